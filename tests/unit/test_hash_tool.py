#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""guideway-hash as people run it: the public values that it can show, its JSON, and what it says of bad input."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build")) / "tools" / "hash" / "guideway-hash"


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def answer(*words):
    return json.loads(run(*words, "--json").stdout)


def table(size, *members):
    words = [word for member in members for word in ("--member", member)]
    return answer("table", "--algorithm", "maglev", "--size", size, *words)


# Envoy's own tests.
@pytest.mark.parametrize(
    "size, members, slots",
    [
        (7, [f"127.0.0.1:{port}" for port in range(90, 96)], [2, 4, 0, 1, 5, 0, 3]),
        (7, [str(port) for port in range(90, 96)], [2, 5, 0, 3, 4, 1, 0]),
        (17, ["127.0.0.1:90@1", "127.0.0.1:91@2"], [1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1]),
    ],
)
def test_maglev_tables_equal_envoys(size, members, slots):
    shown = table(size, *members)
    assert shown["slots"] == slots
    assert shown["size"] == size and shown["algorithm"] == "maglev"
    assert table(size, *reversed(members)) == shown


def test_jump_gives_the_published_buckets():
    keys = [word for key in range(20) for word in ("--key-u64", key)]
    lines = run("lookup", "--algorithm", "jump", "--buckets", 100, *keys, "--json").stdout.splitlines()
    wanted = [0, 55, 62, 8, 45, 59, 86, 97, 82, 59, 73, 37, 17, 56, 86, 21, 90, 37, 38, 83]
    assert [json.loads(line)["bucket"] for line in lines] == wanted
    for key, buckets, bucket in [(10863919174838991, 11, 6), (2016238256797177309, 11, 3),
                                 (1673758223894951030, 11, 5), (2, 100001, 80343)]:
        assert answer("lookup", "--algorithm", "jump", "--buckets", buckets, "--key-u64", key)["bucket"] == bucket


def test_the_ring_experiment_comes_out_exactly():
    rows = answer("simulate", "--scenario", "ring-experiment")
    assert [row["moved"] for row in rows] == [8035, 1695, 1889]
    assert [sorted(row["loads"].values()) for row in rows] == [
        [1928, 2007, 2011, 2011, 2043], [124, 309, 1695, 3795, 4077], [1814, 1889, 1969, 2089, 2239]]
    assert rows[1]["loads"]["E"] == 1695 and rows[2]["loads"]["E"] == 1889
    assert [row["vnodes"] for row in rows] == [0, 1, 100]


def test_from_8_to_9_members_modulo_moves_nearly_all_and_a_ring_a_ninth():
    modulo = answer("simulate", "--algorithm", "modulo", "--scenario", "grow", "--members", 8, "--keys", 100000)
    ring = answer("simulate", "--algorithm", "ring", "--scenario", "grow", "--members", 8, "--keys", 100000)
    assert 0.88 < modulo["moved"] / 100000 < 0.90
    assert 0.08 < ring["moved"] / 100000 < 0.14
    assert set(ring) >= {"algorithm", "scenario", "members_before", "members_after", "keys", "moved", "ideal",
                         "excess", "busiest", "quietest", "stddev", "loads"}
    assert sum(ring["loads"].values()) == 100000 and len(ring["loads"]) == 9


def test_maglevs_disruption_is_the_papers():
    rows = {row["failed"]: row["changed_share"] for row in answer("simulate", "--scenario", "disruption")}
    assert 0.0064 < rows[1] < 0.0074 and 0.131 < rows[100] < 0.141


@pytest.mark.parametrize("algorithm", ["ring", "rendezvous", "maglev"])
def test_bounded_loads_keep_their_bound_under_hot_keys(algorithm):
    shown = answer("simulate", "--algorithm", algorithm, "--scenario", "hot-key", "--factor", 1.25, "--keys", 20000)
    assert shown["bounded"]["busiest"] <= 2500 < shown["plain"]["busiest"]
    assert shown["factor"] == 1.25
    assert sum(shown["bounded"]["loads"].values()) == 20000


@pytest.mark.parametrize("scenario", ["grow", "shrink", "fail-random", "weight-change", "flap", "cascade", "storm"])
def test_compare_answers_for_every_algorithm(scenario, tmp_path):
    picture = tmp_path / "chart.svg"
    rows = answer("compare", "--scenario", scenario, "--keys", 2000, "--svg", picture)
    assert len(rows) == 12 and all("moved" in row or "error" in row for row in rows)
    drawn = picture.read_text()
    assert drawn.startswith("<svg") and "share of keys (%)" in drawn and "algorithm" in drawn


def test_preference_lists_are_distinct_and_spread_over_zones():
    members = ["a@1@z1", "b@1@z1", "c@1@z2", "d@1@z3"]
    words = [word for member in members for word in ("--member", member)]
    shown = answer("lookup", "--algorithm", "ring", *words, "--key", "k", "--n", 4, "--spread", "zone")
    zones = {member.split("@")[0]: member.split("@")[2] for member in members}
    assert sorted(shown["members"]) == ["a", "b", "c", "d"] and shown["members"][0] == shown["member"]
    assert len({zones[member] for member in shown["members"][:3]}) == 3


def test_adding_and_removing_again_restores_the_mapping():
    keys = [word for key in range(200) for word in ("--key", f"k{key}")]
    members = [word for member in "abcde" for word in ("--member", member)]
    plain = run("lookup", "--algorithm", "maglev", *members, *keys).stdout
    assert run("lookup", "--algorithm", "maglev", *members, "--add", "f", "--remove", "f", *keys).stdout == plain
    assert run("lookup", "--algorithm", "maglev", *members, "--remove", "a", *keys).stdout != plain


TWO = ("--member", "a", "--member", "b")


@pytest.mark.parametrize(
    "words, status, said",
    [
        *[(("table", "--size", size, *TWO), 1, "size") for size in (0, 1, 5000012, 2**32 + 7)],
        (("table", "--size", 4, *TWO), 1, "prime"),
        (("table", "--size", 65536, *TWO), 1, "prime"),
        (("table", "--size", 2, *TWO, "--member", "c"), 1, "more members"),
        (("table",), 1, "empty set"),
        (("table", "--member", "a@0", "--member", "b@0"), 1, "weight"),
        (("table", "--member", "a@-1"), 1, "'a'"),
        (("table", "--member", "a", "--member", "a"), 1, "'a'"),
        (("table", "--member", "a@2147483648", "--member", "b@2147483648"), 1, "weights"),
        (("table", "--algorithm", "magleff", *TWO), 2, "magleff"),
        (("table", "--size", "x", *TWO), 2, "'x'"),
        (("table", "--sizes", "7", *TWO), 2, "--sizes"),
        (("lookup", *TWO), 2, "key"),
        (("lookup", *TWO, "--remove", "c", "--key", "k"), 1, "'c'"),
        (("lookup", "--algorithm", "jump", "--buckets", 5, "--remove", "2", "--key", "k"), 1, "last"),
        (("lookup", "--algorithm", "anchor", "--capacity", 3, "--buckets", 5, "--key", "k"), 1, "capacity"),
        (("simulate", "--scenario", "growth"), 2, "growth"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_bad_input_is_told_by_name(words, status, said):
    assert said in run(*words, status=status).stderr
