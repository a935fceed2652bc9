# SPDX-License-Identifier: BSD-2-Clause
"""The rules that the demo must meet, and the summary. Nothing here touches the system."""

import dataclasses
import math

from labkit import traffic

# A request may straddle the moment when the new table was seen: it was sent before, or the balancer
# took the table in while we asked it.
WINDOW_SLACK = 0.3
# How far a share may be off: six and a half standard deviations of as many draws as there were requests,
# which chance exceeds once in ten billion times, and a hundredth for the table itself.
SHARE_SIGMAS = 6.5
SHARE_SLACK = 0.01
# Share of slots that Maglev may move although their backend is alive. For three members at M = 65537 the
# algorithm itself moves less than a tenth of this (guideway-hash table --algorithm maglev shows it).
EXCESS_LIMIT = 0.01


@dataclasses.dataclass
class Record:
    """All that happened, filled in by show.py."""

    path: str
    victim: str
    backends: list
    before: object = None
    after: object = None
    restored: object = None
    killed_at: float = 0.0
    health_at: float = 0.0
    swapped_at: float = 0.0
    returned_at: float = 0.0
    back_at: float = 0.0
    ended_at: float = 0.0
    victim_packets_after_swap: int = 0
    load_errors: dict = dataclasses.field(default_factory=dict)
    load_requests: int = 0
    rates: list = dataclasses.field(default_factory=list)
    drops: dict = dataclasses.field(default_factory=dict)
    requests: list = dataclasses.field(default_factory=list)
    kept: dict = dataclasses.field(default_factory=dict)


def moved_slots(before, after, victim):
    """(slots whose backend changed, those among them that were not the victim's)."""
    changed = [a for a, b in zip(before.slots, after.slots) if a != b]
    return len(changed), sum(1 for name in changed if name != victim)


def in_window(record, request):
    """True when a failed request touches the time between the kill and the new table."""
    return request["end"] >= record.killed_at and request["begin"] <= record.swapped_at + WINDOW_SLACK


def failures_split(record):
    """Failed requests inside and outside the detection window."""
    failed = traffic.failures(record.requests)
    inside = [request for request in failed if in_window(record, request)]
    return inside, [request for request in failed if not in_window(record, request)]


def kept_split(record):
    """Long-lived connections of other backends: those that survived everything, and those that did not."""
    others = [kept for kept in record.kept.values() if kept.backend and kept.backend != record.victim]
    good = [
        kept
        for kept in others
        if not kept.error and len(kept.backends) == 1 and kept.answers[-1] > record.back_at
    ]
    return good, [kept for kept in others if kept not in good]


def shares_before(record):
    """(share of each backend, how far one may be off) of the requests before the kill."""
    requests = [r for r in record.requests if r["end"] < record.killed_at]
    ideal = 1 / len(record.backends)
    deviation = math.sqrt(ideal * (1 - ideal) / max(1, len(requests)))
    return traffic.shares(requests), SHARE_SLACK + SHARE_SIGMAS * deviation


def _late(record):
    """Requests that the dead backend answered, or packets that it got, after the swap."""
    answered = [
        request
        for request in record.requests
        if request.get("backend") == record.victim
        and record.swapped_at + WINDOW_SLACK < request["begin"]
        and request["end"] < record.returned_at
    ]
    return len(answered) + record.victim_packets_after_swap


def _load_outside(record):
    return sum(count for scene, count in record.load_errors.items() if scene != "window")


def verdicts(record):
    """Every rule: (met, text)."""
    _, outside = failures_split(record)
    good, lost = kept_split(record)
    shares, slack = shares_before(record)
    worst = max(abs(shares.get(name, 0) - 1 / len(record.backends)) for name in record.backends)
    _, excess = moved_slots(record.before, record.after, record.victim)
    excess /= len(record.before.slots)
    again = [r for r in record.requests if r.get("backend") == record.victim and r["begin"] > record.back_at]
    late, load = _late(record), _load_outside(record)
    victim = record.victim
    return [
        (not outside, f"no request failed outside the detection window ({len(outside)} did)"),
        (not load, f"no error under wrk outside it ({load} were)"),
        (
            bool(good) and not lost,
            f"long-lived connections on other backends survived both changes ({len(good)} of {len(good + lost)})",
        ),
        (
            worst <= slack,
            f"shares are near 1/{len(record.backends)} (off by {worst:.1%} at most; chance explains {slack:.1%})",
        ),
        (not late, f"{victim} got nothing after the swap ({late} packets)"),
        (excess <= EXCESS_LIMIT, f"{excess:.2%} of slots moved beyond the ideal (limit {EXCESS_LIMIT:.0%})"),
        (bool(again), f"{victim} serves again after its return ({len(again)} requests)"),
        (record.restored.slots == record.before.slots, "the table is what it was before, slot for slot"),
    ]


def summary_rows(record):
    """The summary: (name, text)."""
    inside, outside = failures_split(record)
    good, lost = kept_split(record)
    moved, excess = moved_slots(record.before, record.after, record.victim)
    size, ideal = len(record.before.slots), moved - excess
    timed, load = len(record.requests), record.load_requests
    shares = ", ".join(f"{name} {share:.1%}" for name, share in shares_before(record)[0].items())
    top, mean = max(record.rates, default=0), sum(record.rates) / (len(record.rates) or 1)
    return [
        ("path", record.path),
        ("requests", f"{timed + load} ({timed} timed one by one, {load} by wrk)"),
        ("failures in the window", f"{len(inside)} timed, {record.load_errors.get('window', 0)} under wrk"),
        ("failures outside", f"{len(outside)} timed, {_load_outside(record)} under wrk"),
        ("share of each backend", shares),
        ("detection", f"{record.health_at - record.killed_at:.2f} s from the kill to the health change"),
        ("swap", f"{record.swapped_at - record.killed_at:.2f} s from the kill to the new table"),
        ("return", f"{record.back_at - record.returned_at:.2f} s from nginx's start to the table"),
        ("slots moved", f"{moved} of {size} ({moved / size:.2%}); ideal {ideal} ({ideal / size:.2%})"),
        ("long-lived connections", f"{len(good)} survived, {len(lost)} lost on living backends"),
        ("packets per second", f"{top:,.0f} at the most, {mean:,.0f} on average, to backends (synthetic: veth)"),
        ("drops", ", ".join(f"{name} {count}" for name, count in record.drops.items()) or "none"),
    ]
