# SPDX-License-Identifier: BSD-2-Clause
"""The JSON Schema of the configuration takes what guideway takes, and refuses what it refuses."""

import glob
import json
import subprocess

import jsonschema
import pytest
import yaml

from test_programs import ROOT, program

EXAMPLES = sorted(glob.glob(f"{ROOT}/config/*.yaml"))
BASE = """\
version: 1
node: {name: lb1, source_ipv4: 192.0.2.11}
dataplane: {path: xdp, interfaces: [{name: eth1}]}
pools:
  - name: web
    panic_below: off
    drain_timeout: 5m
    healthcheck: {type: http, port: 80, path: /healthz, interval: 2s, timeout: 1s, expect: 200-299}
    backends: [{name: b1, address: 192.0.2.101, weight: 1, state: drain}]
services:
  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80, 8000-8099], pool: web}
"""
WRONG = {
    "an unknown key": ("panic_below: off", "panic_bellow: off"),
    "a duration without a unit": ("interval: 2s", "interval: 2"),
    "an unknown word": ("state: drain", "state: drained"),
    "a backend's port": ("weight: 1,", "port: 80,"),
    "a missing address": ("address: 192.0.2.101, ", ""),
    "a number out of range": ("{type: http, port: 80", "{type: http, port: 70000"),
    "a text for a number": ("weight: 1,", "weight: heavy,"),
    "a list for a mapping": ("node: {name: lb1, source_ipv4: 192.0.2.11}", "node: [lb1]"),
    "another version": ("version: 1", "version: 2"),
    "a bad range of ports": ("8000-8099", "8000--8099"),
    "no version": ("version: 1\n", ""),
}


def run(*words):
    return subprocess.run([program("guideway"), *words], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(run("config", "schema").stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def errors(validator, text):
    return [error.message for error in validator.iter_errors(yaml.safe_load(text))]


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_examples_are_valid(validator, path):
    with open(path, encoding="utf-8") as stream:
        assert errors(validator, stream.read()) == []


@pytest.mark.parametrize("path", EXAMPLES)
def test_what_guideway_prints_of_a_file_is_valid_again(validator, path):
    done = run("config", "dump", "--json", "--config", path)
    assert done.returncode == 0, done.stderr
    assert [error.message for error in validator.iter_errors(json.loads(done.stdout))] == []


def test_the_whole_corpus_file_is_valid(validator):
    with open(f"{ROOT}/tests/fuzz/corpus/config/everything.yaml", encoding="utf-8") as stream:
        assert errors(validator, stream.read()) == []


def test_the_base_of_the_wrong_files_is_right(validator, tmp_path):
    path = tmp_path / "base.yaml"
    path.write_text(BASE)
    assert run("config", "check", str(path)).returncode == 0
    assert errors(validator, BASE) == []


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused_by_both(validator, tmp_path, name):
    before, after = WRONG[name]
    assert before in BASE
    text = BASE.replace(before, after)
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    assert run("config", "check", str(path)).returncode == 5
    assert errors(validator, text) != []
