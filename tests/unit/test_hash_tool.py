#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""guideway-hash as people run it: the public values that it can show, its JSON, and what it says of bad input."""

import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build")) / "tools" / "hash" / "guideway-hash"


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def answer(*words):
    return json.loads(run(*words, "--json").stdout)


def lookup(algorithm, *words):
    lines = run("lookup", "--algorithm", algorithm, *words, "--json").stdout.splitlines()
    return [json.loads(line) for line in lines]


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
    wanted = [0, 55, 62, 8, 45, 59, 86, 97, 82, 59, 73, 37, 17, 56, 86, 21, 90, 37, 38, 83]
    assert [line["bucket"] for line in lookup("jump", "--buckets", 100, *keys)] == wanted
    for key, buckets, bucket in [(10863919174838991, 11, 6), (2016238256797177309, 11, 3),
                                 (1673758223894951030, 11, 5), (2, 100001, 80343)]:
        assert lookup("jump", "--buckets", buckets, "--key-u64", key)[0]["bucket"] == bucket


def test_ketama_has_libketamas_point_and_spymemcacheds_owners():
    pair = ("--member", "127.0.0.1:11211@600", "--member", "127.0.0.1:11212@400")
    shown = answer("table", "--algorithm", "ketama", *pair)
    assert [3454255383, shown["members"].index("127.0.0.1:11211")] in shown["points"]
    # floor(share * 40 * 2) digests of four points each: 48 and 32.
    assert [sum(owner == member for _, owner in shown["points"]) for member in (0, 1)] == [192, 128]
    servers = [word for port in range(10000, 10004) for word in ("--member", f"127.0.0.1:{port}")]
    assert [line["member"] for line in lookup("ketama", *servers, "--key", "dustin", "--key", "noelani")] == [
        "127.0.0.1:10000", "127.0.0.1:10002"]


@pytest.mark.parametrize("algorithm", ["anchor", "dx"])
def test_removing_buckets_moves_their_keys_alone_and_adding_them_brings_all_back(algorithm):
    """The states of the AnchorHash paper, as their owners show them: 6, 5, 1 and then 0 leave 7 buckets."""
    keys = [word for key in range(700) for word in ("--key-u64", key)]
    sets = [[], ["--remove", "6,5,1"], ["--remove", "6,5,1", "--remove", "0"]]
    whole, three, four = (
        [line["bucket"] for line in lookup(algorithm, "--buckets", 7, "--capacity", 7, *changes, *keys)]
        for changes in sets)
    assert set(whole) == set(range(7))
    assert set(three) == {0, 2, 3, 4} and set(four) == {2, 3, 4}
    assert all(now == was for was, now in zip(whole, three) if was not in (1, 5, 6))
    assert all(now == was for was, now in zip(three, four) if was != 0)
    back = ("--remove", "6,5,1", "--remove", "0", "--add", "0", "--add", "1,5,6")
    again = lookup(algorithm, "--buckets", 7, "--capacity", 7, *back, *keys)
    assert [line["bucket"] for line in again] == whole


def test_numbers_above_63_bits_are_json_numbers():
    key = 2**64 - 1
    assert lookup("jump", "--buckets", 3, "--key-u64", key)[0]["key"] == key
    points = answer("table", "--algorithm", "ring", "--member", "a", "--member", "b", "--vnodes", 50)["points"]
    assert len(points) == 100 and points == sorted(points) and points[-1][0] > 2**63


def test_an_answer_to_a_lookup_has_the_contracts_fields():
    line = lookup("ring", "--member", "a", "--member", "b", "--key", "k")[0]
    assert line == {"key": "k", "bucket": None, "member": line["member"]} and line["member"] in "ab"


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


def test_more_points_even_out_the_ring():
    """Relative deviation is about 1/sqrt(V); the busiest of 8 falls towards 12.5 % (at 150 points about 15 %)."""
    rows = {row["vnodes"]: row for row in answer("simulate", "--scenario", "vnodes", "--members", 200)}
    for vnodes in (10, 100, 1000):
        deviation = rows[vnodes]["stddev"] / (rows[vnodes]["keys"] / 200)
        assert 0.75 < deviation * vnodes**0.5 < 2.0
    eight = {row["vnodes"]: row["busiest"] / row["keys"] for row in answer("simulate", "--scenario", "vnodes")}
    assert eight[1] > 0.25 and 0.125 < eight[150] < 0.165


def test_a_cascade_stops_where_there_is_room_and_takes_all_where_there_is_none():
    calm = answer("simulate", "--scenario", "cascade", "--factor", 2)
    assert calm["survivors"] == 9 and calm["steps"] == [[]]
    fatal = answer("simulate", "--scenario", "cascade", "--factor", 1.05)
    assert fatal["survivors"] == fatal["members_after"] == 1 and len(fatal["steps"][0]) == 9 - 1


def test_a_grace_period_spares_moves_when_a_member_flaps():
    flap = answer("simulate", "--scenario", "flap", "--algorithm", "rendezvous")
    assert 0 < flap["moved_with_grace"] < flap["moved_without_grace"] == flap["moved"]


@pytest.mark.parametrize("scenario", ["vnodes", "disruption", "ring-experiment", "cascade", "hot-key", "grow"])
def test_each_chart_is_xml_with_axes_and_a_legend(scenario, tmp_path):
    picture = tmp_path / "chart.svg"
    run("simulate", "--scenario", scenario, "--svg", picture)
    texts = [node.text for node in xml.etree.ElementTree.parse(picture).iter() if node.tag.endswith("}text")]
    assert len(texts) > 8 and all(text is None or "nan" not in text for text in texts)


def test_bench_measures_what_is_asked(tmp_path):
    rows = answer("bench", "--algorithm", "ring", "--members", 500, "--vnodes", 150, "--svg", tmp_path / "b.svg")
    assert [(row["algorithm"], row["members"]) for row in rows] == [("ring", 500)]
    assert all(rows[0][name] > 0 for name in ("build_ms", "lookup_ns", "bulk_ns", "textbook_ns"))
    assert rows[0]["memory_bytes"] > 500 * 150 * 8


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
        (("table", "--member", "a@1.5"), 2, "a@1.5"),
        (("table", "--member", "a@99999999999999999999"), 1, "weight"),
        (("table", "--members-from", "/dev/null"), 1, "empty set"),
        (("table", "--members-from", "/none"), 1, "/none"),
        (("table", "--algorithm", "jump", "--buckets", 5), 1, "neither"),
        (("table", "--size"), 2, "--size"),
        (("lookup", *TWO, "--add", "a", "--key", "k"), 1, "'a'"),
        (("lookup", *TWO, "--remove", "a,b", "--key", "k"), 1, "empty set"),
        (("lookup", *TWO, "--buckets", 2, "--key", "k"), 2, "--buckets"),
        (("lookup", "--algorithm", "ring", *TWO, "--key-u64", 3), 2, "--key-u64"),
        (("lookup", "--algorithm", "ketama", "--hash", "xxh64", *TWO, "--key", "k"), 1, "md5"),
        (("lookup", "--hash", "sha1", *TWO, "--key", "k"), 2, "sha1"),
        (("lookup", *TWO, "--key", "k", "--spread", "zone"), 2, "--n"),
        (("lookup", *TWO, "--key", "k", "--n", 2, "--spread", "rack"), 2, "rack"),
        (("simulate", "--scenario", "growth"), 2, "growth"),
        (("simulate",), 2, "--scenario"),
        (("simulate", "--scenario", "grow", "--members", 8, "--to", 4), 2, "--to"),
        (("simulate", "--scenario", "fail-random", "--members", 5, "--to", 9), 2, "--to"),
        (("simulate", "--scenario", "cascade", "--members", 1), 2, "--members"),
        (("simulate", "--scenario", "hot-key", "--factor", 1), 2, "--factor"),
        (("simulate", "--scenario", "grow", "--size", 65536), 1, "prime"),
        (("simulate", "--scenario", "grow", "--svg", "/none/x.svg"), 1, "/none/x.svg"),
        (("compare", "--scenario", "disruption"), 2, "simulate"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_bad_input_is_told_by_name(words, status, said):
    refused = run(*words, status=status)
    assert said in refused.stderr and refused.stderr.startswith("guideway-hash: ")
    assert not refused.stdout or words[-2] == "--svg"
