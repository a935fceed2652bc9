# SPDX-License-Identifier: BSD-2-Clause
"""The scenes: steady traffic, a backend dies, the balancer notices, the backend returns."""

import signal
import time

from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE, LabError

from . import judge, load, watch

VICTIM = "b2"
REQUESTS_A_SECOND = 60
KEPT = 6
PATIENCE = 60


def _ready(lab, screen):
    """Waits until every backend is up and has slots, and the service answers."""
    view.wait_all_up(lab, PATIENCE)
    screen.line("every backend is healthy and has its share of the table")
    for address in DEFAULT_SERVICE:
        answers = [load.curl(lab, address) for _ in range(6)]
        screen.line(f"curl {load.url_of(address):28} answered by {' '.join(answers)}")


def _lookup(lab, screen):
    flow = f"tcp {lab.plan.client.ipv4}:40000 {DEFAULT_SERVICE[0]}:80"
    found = lab.json("lb1", ["guideway", "lookup", flow])
    screen.line(f"guideway lookup '{flow}': slot {found['slot']}, backend {found['backend']}")


def _wrk(lab, screen, record, scene, seconds):
    """One scene under wrk, from its start to its end."""
    screen.line(f"wrk, {load.CONNECTIONS} connections to each address, {seconds:.0f} s")
    run = load.Wrk(lab, DEFAULT_SERVICE, seconds)
    _wrk_end(screen, record, scene, run)


def _wrk_end(screen, record, scene, run):
    requests, errors = run.finish()
    record.load_requests += requests
    record.load_errors[scene] = record.load_errors.get(scene, 0) + errors
    screen.line(f"wrk: {requests} requests, {errors} errors")


def _table_line(screen, what, before, after):
    changed, _ = judge.moved_slots(before, after, VICTIM)
    screen.event(f"{what}: {changed} of {len(after.slots)} slots have another backend, digest {after.digest[:16]}")


def _death(lab, screen, record, seconds):
    """Kills the victim's nginx in mid-traffic and follows until the new table is in force."""
    screen.title(f"{VICTIM} dies")
    run = load.Wrk(lab, DEFAULT_SERVICE, seconds)
    time.sleep(1.5)
    pid = lab.pid(VICTIM, "nginx")
    record.killed_at = time.monotonic()
    lab.stop(VICTIM, "nginx", signal.SIGKILL)
    screen.event(f"killed nginx on {VICTIM}, pid {pid}, under traffic")

    def noticed():
        digest = view.digest_of(lab)
        if not record.health_at and view.health_of(lab, VICTIM) != "up":
            record.health_at = time.monotonic()
            took = record.health_at - record.killed_at
            screen.event(f"health: {VICTIM} is down, {took:.2f} s after the kill")
        if record.health_at and digest != record.before.digest:
            record.swapped_at = time.monotonic()
        return record.swapped_at

    process.wait_for(f"the balancer to notice that {VICTIM} is down", noticed, PATIENCE, 0.02)
    record.after = view.table_read(lab)
    _table_line(screen, "table swapped", record.before, record.after)
    _wrk_end(screen, record, "window", run)


def _life_without(lab, screen, record, seconds):
    screen.title("the flows go on")
    taken = view.decapsulated(lab, VICTIM)
    _wrk(lab, screen, record, "without", seconds)
    record.victim_packets_after_swap = view.decapsulated(lab, VICTIM) - taken
    screen.line(f"{VICTIM} got {record.victim_packets_after_swap} packets meanwhile")


def _return(lab, screen, record, seconds):
    screen.title(f"{VICTIM} returns")
    run = load.Wrk(lab, DEFAULT_SERVICE, seconds)
    record.returned_at = time.monotonic()
    pid = lab.start(VICTIM, "nginx")
    screen.event(f"started nginx on {VICTIM}, pid {pid}")

    def serves():
        return view.health_of(lab, VICTIM) == "up" and view.digest_of(lab) != record.after.digest

    process.wait_for(f"the balancer to use {VICTIM} again", serves, PATIENCE, 0.02)
    record.back_at = time.monotonic()
    record.restored = view.table_read(lab)
    screen.event(f"health: {VICTIM} is up, {record.back_at - record.returned_at:.2f} s after its start")
    _table_line(screen, "table swapped", record.after, record.restored)
    _wrk_end(screen, record, "return", run)


def play(lab, screen, seconds):
    """Plays everything on a lab that runs; the record of what happened."""
    path = lab.options.port.path
    if path == "dpdk":
        path += ", huge pages" if lab.options.huge else ", no huge pages"
    record = judge.Record(path, VICTIM, [node.name for node in lab.plan.bs])
    _ready(lab, screen)
    _lookup(lab, screen)
    record.before = view.table_read(lab)
    rates = watch.RateWatch(lab)
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=REQUESTS_A_SECOND, keep=KEPT)
    rates.start()
    try:
        screen.title("steady traffic")
        screen.line(
            f"{REQUESTS_A_SECOND} new connections a second and {KEPT} that stay, to each address, from here on"
        )
        _wrk(lab, screen, record, "steady", seconds * 0.3)
        _death(lab, screen, record, max(6, seconds * 0.2))
        _life_without(lab, screen, record, seconds * 0.25)
        _return(lab, screen, record, max(5, seconds * 0.25))
        time.sleep(1)
    finally:
        rates.stop()
        flows.stop()
    record.ended_at = time.monotonic()
    record.rates = rates.rates
    record.requests = flows.requests()
    record.kept = flows.kept()
    record.drops = view.drops_of(lab)
    if not record.requests:
        raise LabError("the traffic generator wrote nothing")
    return record
