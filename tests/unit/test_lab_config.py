# SPDX-License-Identifier: BSD-2-Clause
"""A person's file reaches every balancer with its own words, only the places changed."""

import types

import yaml
from labkit import config

FILE = """version: 1
node: {name: elsewhere}
dataplane: {path: xdp, interfaces: [{name: eth7}], cpus: 010}
pools:
  - name: 10:05
    panic_below: off
    entropy: yes
    healthcheck:
    backends: [{name: on, address: 10.82.0.101, weight: 1}]
"""


def fitted(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(FILE, encoding="utf-8")
    node = types.SimpleNamespace(name="lb1", ipv4="10.82.0.11", ipv6="fd82::11", interface="eth1")
    port = types.SimpleNamespace(path="xdp", entry=lambda interface: {"name": interface})
    return config.fit(config.read(path), node, port, "/run/x.sock")


def test_words_that_yaml_takes_for_other_types_stay_as_written(tmp_path):
    document = yaml.load(fitted(tmp_path), Loader=yaml.BaseLoader)
    pool = document["pools"][0]
    assert (pool["panic_below"], pool["entropy"], pool["name"]) == ("off", "yes", "10:05")
    assert pool["backends"] == [{"name": "on", "address": "10.82.0.101", "weight": "1"}]
    assert (document["version"], document["dataplane"]["cpus"]) == ("1", "010")


def test_a_key_without_a_value_stays_without_one(tmp_path):
    assert yaml.safe_load(fitted(tmp_path))["pools"][0]["healthcheck"] is None


def test_the_places_are_those_of_the_lab(tmp_path):
    document = yaml.load(fitted(tmp_path), Loader=yaml.BaseLoader)
    assert document["node"] == {"name": "lb1", "source_ipv4": "10.82.0.11", "source_ipv6": "fd82::11"}
    assert document["dataplane"]["interfaces"] == [{"name": "eth1"}]
    assert document["api"] == {"unix": "/run/x.sock"}
