#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs/performance.md's tables are made from figures, and say yes and no where they should."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "bench" / "performance"
PAGE = ROOT / "docs" / "performance.md"
POINT = {
    "mode": "cpu", "family": 4, "encap": "ipip", "tracked": True, "packet_size": 64, "services": 1, "pools": 1,
    "backends": 100, "new_share": 0.0, "table_fill": 0.0, "workers": 1, "swaps_per_second": 0, "flows": 64000,
    "valid": True, "latency": None, "idle_us": 0, "poll": "busy", "load": 0.0,
}


def point(path, sweep, ns, **differs):
    spread = {"median": ns, "min": ns - 1, "max": ns + 1}
    return {**POINT, "path": path, "sweep": sweep, "ns_per_packet": ns, "mpps": 1e3 / ns, "ns_spread": spread, **differs}


@pytest.fixture(name="page")
def made_page(tmp_path):
    machine = {
        "cpu": "A CPU", "cores": 2, "tsc_ghz": 2.1, "kernel": "Linux 6.1", "compiler": "gcc", "version": "0.1.0",
        "runners": {"dpdk/cpu": {"ports": "synthetic", "what": "from memory"}}, "huge_pages": True, "rounds": 5,
        "seconds": 0.3, "warnings": ["hypervisor: yes"],
    }
    runs = [
        point("dpdk", "flows", 60.0, over_io_ns=34.0, io_ns_per_packet=26.0),
        point("dpdk", "flows", 72.0, over_io_ns=46.0, io_ns_per_packet=26.0, flows=1000000),
        point("dpdk", "new", 100.0, new_share=1.0),
        point("dpdk", "encap", 60.0),
        point("dpdk", "encap", 75.0, family=6, packet_size=78, packet_size_asked=64),
        point("dpdk", "encap", 60.0, encap="gue", valid=False),
        point("dpdk", "swaps", 60.0, swaps_per_second=100,
              swap_cost={"median_share": 0.004, "low": -0.01, "high": 0.015, "pairs": 40, "decided": True}),
        point("xdp", "swaps", 60.0, swaps_per_second=100,
              swap_cost={"median_share": 0.004, "low": -0.05, "high": 0.05, "pairs": 200, "decided": False}),
        point("xdp", "flows", 120.4, flows=1000000),
    ]
    figures = tmp_path / "figures.json"
    figures.write_text(json.dumps({"machine": machine, "runs": runs, "skipped": []}), encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([SCRIPT, "--from", figures, "--page", page], check=True, timeout=60)
    return page.read_text(encoding="utf-8")


def row(page, words):
    found = [line.split(" | ") for line in page.splitlines() if line.startswith(f"| {words}")]
    assert len(found) == 1, f"{words}: {found}"
    return found[0]


def test_goals_are_held_against_what_was_measured(page):
    assert row(page, "DPDK: at most 35 ns over `io` at 64,000")[1:3] == ["34.0 ns", "yes"]
    assert row(page, "DPDK: at most 45 ns over `io` at 1,000,000")[1:3] == ["46.0 ns", "**no**"]
    assert row(page, "DPDK: only new flows")[1:3] == ["10.0 million", "yes"]
    assert row(page, "DPDK: IPv6 within 20 %")[1:3] == ["1.25 times", "**no**"]


def test_what_swaps_cost_is_held_only_when_the_pairs_decide(page):
    assert row(page, "DPDK: 100 table swaps")[1:3] == ["+0.4% (-1.0% to +1.5%, 40 pairs)", "yes"]
    assert row(page, "XDP: 100 table swaps")[2] == "undecided"


def test_what_was_not_measured_or_was_refused_has_no_figure(page):
    assert row(page, "DPDK: GUE within 15 %")[1:3] == ["–", "not measured"]
    assert row(page, "DPDK: at most 55 ns")[1:3] == ["–", "not measured"]


def test_peers_table_has_our_rows(page):
    assert row(page, "**Guideway, XDP, tracked")[1:4] == ["–", "–", "120"]
    assert row(page, "**Guideway, DPDK, over `io`")[1:4] == ["–", "34", "46"]
    assert row(page, "Katran, tracked")[1:4] == ["98", "630", "607"]


def test_text_around_the_tables_stays(page):
    def rest(text):
        return re.sub(r"(<!-- table \w+ -->).*?(<!-- end -->)", r"\1\2", text, flags=re.S)

    assert rest(page) == rest(PAGE.read_text(encoding="utf-8"))


def test_charts_of_this_page_are_those_of_its_figures(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([SCRIPT, "--from", PAGE.parent / "performance" / "figures.json", "--page", page], check=True, timeout=60)
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    kept = {path.name: path.read_bytes() for path in (PAGE.parent / "performance").glob("*.svg")}
    assert {path.name: path.read_bytes() for path in (tmp_path / "performance").glob("*.svg")} == kept


def test_sweeps_are_measured_again_only_beside_others(tmp_path):
    page = tmp_path / "page.md"
    command = [SCRIPT, "--again", "swaps", "--page", page]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "measure all sweeps first" in done.stderr
    assert not (tmp_path / "performance").exists()
