# SPDX-License-Identifier: BSD-2-Clause
"""The demo's verdict: each rule must fail when the record breaks it, and only then."""

import dataclasses

import pytest
from demokit import judge, load
from labkit.traffic import Kept
from labkit.view import Table

NAMES = ["b1", "b2", "b3"]
BEFORE = Table(0, "aa", NAMES * 100)
AFTER = Table(0, "bb", ["b1", "b3", "b3"] * 100)


def request(begin, backend=None, took=0.01, **more):
    return {"begin": begin, "end": begin + took, **({"backend": backend} if backend else {}), **more}


def good_record():
    """Killed at 10, noticed at 12, restarted at 20, back at 21, over at 30."""
    steady = [request(i / 10, NAMES[i % 3]) for i in range(90)]
    window = [request(10.5, error="refused"), request(11.5, error="refused")]
    without = [request(12.5 + i / 10, ["b1", "b3"][i % 2]) for i in range(70)]
    back = [request(21.5 + i / 10, NAMES[i % 3]) for i in range(60)]
    kept = {
        0: Kept("v4", ["b1"], [1.0, 15.0, 29.0]),
        1: Kept("v4", ["b2"], [1.0, 9.9], "reset", 10.0),
        2: Kept("v6", ["b3"], [1.0, 29.0]),
    }
    return judge.Record(
        path="xdp",
        victim="b2",
        backends=NAMES,
        before=BEFORE,
        after=AFTER,
        restored=dataclasses.replace(BEFORE),
        killed_at=10,
        health_at=11.9,
        swapped_at=12,
        returned_at=20,
        back_at=21,
        ended_at=30,
        load_errors={"steady": 0, "window": 7, "without": 0, "return": 0},
        load_requests=1000,
        requests=steady + window + without + back,
        kept=kept,
    )


def broken_rules(record):
    return [text for good, text in judge.verdicts(record) if not good]


def test_a_good_record_meets_every_rule():
    assert broken_rules(good_record()) == []


def late_failure(record):
    record.requests.append(request(15, error="refused"))


def early_failure(record):
    record.requests.append(request(3, error="refused"))


def wrk_error(record):
    record.load_errors["return"] = 1


def kept_lost(record):
    record.kept[2].error = "reset"


def kept_moved(record):
    record.kept[0].backends.append("b3")


def kept_stalled(record):
    record.kept[0].answers = [1.0, 20.5]


def shares_uneven(record):
    record.requests += [request(1, "b1") for _ in range(400)]


def served_when_dead(record):
    record.requests.append(request(15, "b2"))


def packets_when_dead(record):
    record.victim_packets_after_swap = 1


def too_much_moved(record):
    record.after = Table(0, "bb", ["b3", "b3", "b1"] * 100)


def never_back(record):
    record.requests = [r for r in record.requests if r["begin"] < 21]


def table_differs(record):
    record.restored = AFTER


@pytest.mark.parametrize(
    "damage",
    [
        late_failure,
        early_failure,
        wrk_error,
        kept_lost,
        kept_moved,
        kept_stalled,
        shares_uneven,
        served_when_dead,
        packets_when_dead,
        too_much_moved,
        never_back,
        table_differs,
    ],
)
def test_each_damage_breaks_exactly_one_rule(damage):
    record = good_record()
    damage(record)
    assert len(broken_rules(record)) == 1


def test_slots_beyond_the_ideal_are_those_of_living_backends():
    after = Table(0, "bb", ["b3", "b3", "b3"] + ["b1", "b3", "b3"] * 99)
    assert judge.moved_slots(BEFORE, after, "b2") == (101, 1)


def test_wrk_reports_are_read():
    report = "  5123 requests in 5.01s, 1.2MB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n"
    assert load.parse(report) == (5123, 10)
    assert load.parse("  77 requests in 1.00s\n  Non-2xx or 3xx responses: 5\n") == (77, 5)
    assert load.parse("unable to connect") is None
