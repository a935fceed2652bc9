#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""guideway-bench as people run it: what it says of bad input, its JSON and charts, and a short run of every runner
that this machine can have. No speed is asserted: only that packets were balanced and none was lost."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build")) / "tools" / "bench" / "guideway-bench"
MAN = ROOT / "docs" / "guideway-bench.1"
SVG = "{http://www.w3.org/2000/svg}"
SHORT = ("--seconds", "0.02", "--rounds", "2", "--no-huge")
FIGURES = ("mpps", "ns_per_packet", "bound_mpps", "ratio_to_bound", "over_bound_ns")


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == status, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def able(path, mode):
    for one in json.loads(run("--list", "--json").stdout):
        if (one["path"], one["mode"]) == (path, mode):
            return one["able"], one.get("why")
    return False, "no such mode"


def need(path, mode):
    can, why = able(path, mode)
    if not can:
        pytest.skip(f"{path} {mode}: {why}")


@pytest.mark.parametrize(
    "words, told",
    [
        (["--flows", "1,banana"], "--flows: 'banana'"),
        (["--size", "32"], "--size: '32'"),
        (["--mode", "radio"], "--mode: 'radio'"),
        (["--sweep", "flows,sideways"], "--sweep: 'sideways'"),
        (["--seconds", "0"], "--seconds: '0'"),
        (["--rounds", "1.5"], "--rounds: '1.5'"),
        (["--cpu", "-1"], "--cpu: '-1'"),
        (["--pools", "4", "--services", "2"], "--pools: 4 pools, but only 2 services"),
        (["--backends", "500", "--table-size", "251"], "--table-size: 251 slots are too few for 500 backends"),
        (["--flows", "9" * 3000], "is not a whole number from 1 to 1000000000 (k, M, G); see --help"),
        (["--huge", "2000000"], "from 1 to 1048576"),
        (["--table-size", "65536"], "--table-size: 65536 is not a prime; the nearest are 65521 and 65537"),
        (["--table-flows", "4G"], "--table-flows: '4G'"),
        (["--cpu", "4095"], "--cpu: CPU 4095 is not there"),
        (["--generator-cpu", "4095"], "--generator-cpu: CPU 4095 is not there"),
        (["--mode", "nic", "--gen", "net_null0"], "--dut is needed: a PORT of this host; tcp:ADDRESS:PORT"),
        (["--mode", "nic", "--listen", "127.0.0.1:1", "--dut", "02:00:00:00:00:02"], "--listen balances on a port of this one"),
        (["--services", "1,2", "--print-config"], "--print-config: one configuration at a time, but --services varies"),
        (["--cpu", "1", "--generator-cpu", "1"], "--generator-cpu"),
        (["--mode", "nic", "--gen", "net_null0", "--dut", "net_null0"], "'net_null0' cannot be both"),
        (["--mode", "nic", "--gen", "net_null0", "--dut", "tcp:lb1"], "'tcp:lb1' is not tcp:ADDRESS:PORT"),
        (["--mode", "nic", "--dut", "net_null0", "--listen", "127.0.0.1:x"], "'127.0.0.1:x' is not ADDRESS:PORT"),
        (["--mode", "nic", "--dut", "tcp:192.0.2.1:7", "--listen", "127.0.0.1:7"], "'tcp:192.0.2.1:7' is another"),
        (["--", "--help"], "EAL's help"),
        (["--mode", "nic"], "--gen PORT is needed"),
        (["--gen", "eth0"], "--mode nic"),
        (["--huge", "8", "--no-huge"], "exclude each other"),
        (["surplus"], "unexpected 'surplus'"),
        (["--fast"], "--fast"),
    ],
)
def test_wrong_use_names_the_option_and_the_value(words, told):
    done = run(*words, status=2)
    assert told in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "words, why",
    [
        (["--path", "dpdk", "--load", "50%"], "--load and --idle need a generator: --mode link or nic"),
        (["--path", "dpdk", "--idle", "50"], "--load and --idle need a generator: --mode link or nic"),
        (["--path", "xdp", "--workers", "2"], "--workers are for the DPDK path"),
        (["--path", "xdp", "--poll", "adaptive"], "--poll is for the DPDK path"),
        (["--path", "xdp", "--mode", "link", "--idle", "50"], "--idle is for the DPDK path"),
    ],
)
def test_what_a_path_or_mode_cannot_have_is_skipped_and_no_figure_claims_it(words, why):
    told = json.loads(run(*words, "--flows", 1, *SHORT, "--json", status=1).stdout)
    assert told["runs"] == []
    assert [one["why"] for one in told["skipped"]] == [why]


@pytest.mark.parametrize("mode", ["cpu", "link"])
def test_json_is_alone_on_standard_output_when_eal_refuses_an_option(mode):
    need("dpdk", mode)
    done = run("--path", "dpdk", "--mode", mode, "--flows", 1, *SHORT, "--json", "--", "--bogus", status=1)
    assert not json.loads(done.stdout)["runs"][0]["valid"]
    assert "--bogus" in done.stderr


def test_manual_has_every_option_of_the_help():
    options = set(re.findall(r"--([a-z-]+)", run("--help").stdout))
    text = MAN.read_text(encoding="utf-8").replace("\\-", "-")
    missing = [option for option in sorted(options) if not re.search(rf"Fl -{option}\b", text)]
    assert not missing


def test_manual_has_every_sweep():
    names = run("--sweep", "none", status=2).stderr.split("one of all, ")[1].split(";")[0].split(", ")
    text = MAN.read_text(encoding="utf-8")
    assert [name for name in names if not re.search(rf"^\.It Cm {name}$", text, re.M)] == []
    assert all(name in run("--help").stdout for name in names)


def check_run(one, path, mode):
    assert (one["path"], one["mode"]) == (path, mode)
    assert one["valid"] and one["lost"] == 0 and one["sampled"] > 0 and one["packets"] > 0
    assert one["ns_per_packet"] > 0 and one["mpps"] == pytest.approx(1e3 / one["ns_per_packet"], rel=1e-6)
    spread = one["ns_spread"]
    assert spread["min"] <= spread["median"] <= spread["max"]
    assert len(one["rounds"]) == 2
    for name in FIGURES:
        assert name in one


@pytest.mark.parametrize("path, mode", [("dpdk", "cpu"), ("dpdk", "link"), ("xdp", "cpu"), ("xdp", "link")])
def test_short_run_balances_every_packet(path, mode):
    need(path, mode)
    words = (*SHORT, "--seconds", "0.2") if mode == "link" else SHORT
    shown = json.loads(
        run("--path", path, "--mode", mode, "--flows", "1,1k", "--backends", 10, *words, "--json").stdout
    )
    machine = shown["machine"]
    for name in ("cpu", "cores", "kernel", "compiler", "version", "warnings"):
        assert name in machine
    assert machine["runners"][f"{path}/{mode}"]["ports"] == "synthetic"
    assert [one["flows"] for one in shown["runs"]] == [1, 1000]
    for one in shown["runs"]:
        check_run(one, path, mode)
        assert one["synthetic"] and one["packet_size"] == 64 and one["family"] == 4


@pytest.mark.parametrize("path", ["dpdk", "xdp"])
def test_every_encapsulation_of_both_families_is_right(path):
    need(path, "cpu")
    shown = json.loads(
        run("--path", path, "--encap", "ipip,gue,gre,l2", "--family", "4,6", "--flows", "1k", *SHORT, "--json").stdout
    )
    assert len(shown["runs"]) == 8
    for one in shown["runs"]:
        check_run(one, path, "cpu")


@pytest.mark.parametrize("path", ["dpdk", "xdp"])
def test_chart_has_balancer_and_bound(path, tmp_path):
    need(path, "cpu")
    done = run("--path", path, "--flows", "1,64", *SHORT, "--svg", tmp_path / "chart.svg", "--json", tmp_path / "j")
    assert "synthetic" in done.stdout and "ns/packet" in done.stdout
    root = xml.etree.ElementTree.parse(tmp_path / "chart.svg").getroot()
    texts = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert "bound" in texts and "synthetic" in texts and "flows" in texts
    assert len(root.findall(f".//{SVG}polyline")) == 2
    assert len(json.loads((tmp_path / "j").read_text())["runs"]) == 2


def test_sweeps_make_a_chart_each(tmp_path):
    need("dpdk", "cpu")
    words = ("--path", "dpdk", "--family", "4", "--flows", "64", *SHORT)
    run("--sweep", "encap,new", "--encap", "l2", "--new", "10%", *words, "--svg", tmp_path / "charts")
    assert sorted(path.name for path in (tmp_path / "charts").iterdir()) == ["encap.svg", "new.svg"]
    for path in (tmp_path / "charts").iterdir():
        assert xml.etree.ElementTree.parse(path).getroot().tag == f"{SVG}svg"


def test_files_that_cannot_be_written_are_told_before_anything_is_measured(tmp_path):
    for option in ("--json", "--svg"):
        done = run("--path", "dpdk", "--seconds", 60, option, tmp_path / "none" / "file", status=1)
        assert f"{option}: cannot write '{tmp_path}/none/file'" in done.stderr
        assert "ns/packet" not in done.stdout


@pytest.mark.parametrize(
    "words, shared, columns",
    [
        (("--flows", "1,2"), False, False),
        (("--flows", "1,2", "--table-flows", "100k"), True, False),
        (("--flows", "1", "--table-flows", "100k,200k"), False, True),
    ],
)
def test_room_of_the_flow_table_is_told_where_it_was_asked_for(words, shared, columns):
    need("dpdk", "cpu")
    head, *lines = run("--path", "dpdk", *words, *SHORT).stdout.split("\n\n")[1].splitlines()
    assert ("table-flows 100k" in head) == shared, head
    assert ("table-flows" in lines[0]) == columns, lines
    assert (" 100k " in lines[1] and " 200k " in lines[2]) == columns, lines


def test_shortest_ipv6_frame_is_what_is_told_where_fewer_bytes_were_asked_for():
    need("dpdk", "cpu")
    done = run("--path", "dpdk", "--family", "4,6", "--flows", 100, "--size", "64,128", *SHORT, "--json", "-")
    runs = json.loads(done.stdout)["runs"]
    # Ethernet 14, IPv6 40, TCP 20, check sequence 4.
    assert [(one["family"], one["packet_size"], one.get("packet_size_asked")) for one in runs] == [
        (4, 64, None), (4, 128, None), (6, 78, 64), (6, 128, None),
    ]
    told = [[warning for warning in one["warnings"] if warning.startswith("--size 64: the shortest")] for one in runs]
    assert [len(one) for one in told] == [0, 0, 1, 0]


def test_a_long_measurement_ends_at_once_when_interrupted():
    need("dpdk", "cpu")
    words = ["--path", "dpdk", "--flows", "1k", "--seconds", "600", "--rounds", "1", "--no-huge", "--json"]
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while not int(re.search(r"SigCgt:\s+(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))[1], 16) & 1 << signal.SIGINT - 1:
            time.sleep(0.05)
        time.sleep(1)  # it measures, or starts yet
        process.send_signal(signal.SIGINT)
        shown = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 1
    assert [one["why"] for one in shown["runs"]] == ["interrupted"]


def test_charts_drawn_again_from_json_are_the_same(tmp_path):
    need("dpdk", "cpu")
    kept, first, again = tmp_path / "kept.json", tmp_path / "first.svg", tmp_path / "again.svg"
    # A path that cannot have such cases must not change the others' names.
    run("--path", "dpdk,xdp", "--family", "4,6", "--flows", "1,100", "--workers", 2, *SHORT, "--json", kept, "--svg", first)
    run("--from", kept, "--svg", again)
    assert again.read_bytes() == first.read_bytes()
    kept.write_text('{"machine": {}, "runs": [{"flows": "banana"}]}')
    assert "--flows: 'banana'" in run("--from", kept, "--svg", again, status=1).stderr
    kept.write_text("[]")
    assert "has no \"runs\"" in run("--from", kept, "--svg", again, status=1).stderr


def test_what_is_said_of_the_machine_is_so_for_every_run():
    need("dpdk", "cpu")
    shown = json.loads(run("--path", "dpdk", "--flows", "1,100k", *SHORT, "--json").stdout)
    rooms = [one["details"]["flow_table"] for one in shown["runs"]]
    assert rooms[0] < rooms[1]
    assert "flow_table" not in shown["machine"] and "flow_table" not in shown["machine"]["runners"]["dpdk/cpu"]
    assert shown["machine"]["driver"] == shown["runs"][1]["details"]["driver"]
