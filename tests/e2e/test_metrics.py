# SPDX-License-Identifier: BSD-2-Clause
"""Metrics as Prometheus reads them, from a balancer with traffic, in both paths."""

import json
import os
import re
import signal
import time

import pytest
import yaml
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths
from conftest import BUILD, ROOT
from scrape import LISTEN, Scrape, fetch, promtool, scrape


def config_change(lab, change):
    """Edits the balancer's file and reloads it."""
    path = lab.config_path(lab.plan.node("lb1"))
    with open(path, encoding="utf-8") as stream:
        document = yaml.safe_load(stream)
    change(document)
    with open(path, "w", encoding="utf-8") as stream:
        yaml.safe_dump(document, stream, sort_keys=False)
    status, out, err = lab.run("lb1", ["guideway", "config", "reload"])
    assert status == 0, out + err


def metrics_add(document):
    """And drains and quarantines as short as they may be."""
    document["metrics"] = {"listen": LISTEN}
    document["pools"][0]["drain_timeout"] = "1s"
    names = ("tcp_new", "tcp_established", "tcp_closing", "udp", "sctp")
    document["timeouts"] = {name: "2s" for name in names}


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    """A lab whose file got its metrics by a reload, with some requests done."""
    made = make_module_lab(**request.param)
    view.wait_all_up(made)
    config_change(made, metrics_add)
    requests_do(made, 30)
    return made


def requests_do(lab, count):
    command = f"for i in $(seq {count}); do curl -s -o /dev/null --max-time 20 http://{DEFAULT_SERVICE[0]}/ || exit 1; done"
    assert lab.run("client", ["sh", "-c", command])[0] == 0


def test_promtool_finds_nothing_wrong(lab):
    assert promtool("check", "metrics", stdin=fetch(lab)) == (0, "")


def test_every_drop_reason_is_in_metrics_cli_and_manual(lab):
    with open(f"{ROOT}/lib/abi/verdict.h", encoding="utf-8") as stream:
        listed = re.findall(r'^\tX\(\w+,\s*"(\w+)"', stream.read(), re.M)
    assert len(listed) >= 12
    with open(f"{BUILD}/docs/guideway-drops.7", encoding="utf-8") as stream:
        manual = re.findall(r"^\.It Li (\w+)$", stream.read(), re.M)
    counted = scrape(lab)
    told = lab.json("lb1", ["guideway", "drops"])["drops"]
    assert sorted(manual) == sorted(listed)
    assert sorted(told) == sorted(listed)
    assert sorted(name for name in listed if counted.has("guideway_dropped_packets_total", reason=name)) == sorted(listed)


def test_the_numbers_are_those_of_the_api(lab):
    def agree():
        drops = lab.json("lb1", ["guideway", "drops"])
        counted = scrape(lab)
        same = all(counted.value(f"guideway_{name}_packets_total") >= drops[name] for name in ("rx", "tx", "to_host"))
        return same and counted

    counted = process.wait_for("metrics as new as the API", agree)
    listed = lab.json("lb1", ["guideway", "backend", "list"])
    packets = 0
    for one in listed:
        names = {"pool": one["pool"], "backend": one["name"]}
        states = [counted.value("guideway_backend_state", state=state, **names) for state in ("active", "drain", "down", "disabled")]
        assert states == [1, 0, 0, 0]
        assert counted.value("guideway_backend_up", **names) == 1
        assert counted.value("guideway_backend_table_share_ratio", **names) == pytest.approx(one["share"], abs=1e-9)
        assert counted.value("guideway_backend_flows_new_total", **names) >= 1
        assert counted.value("guideway_probe_duration_seconds_count", **names) >= 2
        packets += counted.value("guideway_backend_packets_total", **names)
    # 30 connections of at least SYN, ACK, request, ACK, FIN
    assert packets >= 150
    assert counted.value("guideway_service_packets_total", service="web") == packets
    assert counted.value("guideway_service_flows_new_total", service="web") >= 30
    table = lab.json("lb1", ["guideway", "table", "show", "web"])
    assert counted.has("guideway_pool_table_info", pool="web", digest=table["digest"])
    assert counted.value("guideway_pool_table_version", pool="web") == table["table_version"]
    assert counted.value("guideway_config_last_reload_successful") == 1
    assert time.time() - counted.value("guideway_config_last_reload_success_timestamp_seconds") < 600


def test_counted_packets_add_up(lab):
    def add_up():
        counted = scrape(lab)
        ways = sum(counted.value(f"guideway_{name}_packets_total") for name in ("tx", "to_host", "replied", "consumed"))
        drops = sum(value for (name, _), value in counted.samples.items() if name == "guideway_dropped_packets_total")
        return counted.value("guideway_rx_packets_total") == ways + drops + counted.value("guideway_held_packets")

    # One may be on its way while they are read.
    process.wait_for("rx = sum of outcomes", add_up)


def test_ports_and_workers_are_counted(lab):
    counted = scrape(lab)
    ports = {dict(labels)["port"] for name, labels in counted.samples if name == "guideway_port_rx_missed_total"}
    assert len(ports) == 1
    if lab.options.port.path == "dpdk":
        worker = {"worker": "0", "cpu": "1"}
        assert 0 < counted.value("guideway_worker_busy_cycles_total", **worker) <= counted.value("guideway_worker_cycles_total", **worker)
        assert counted.value("guideway_worker_rx_packets_total", **worker) > 0
    else:
        assert ports == {"eth1"}
        assert "guideway_worker_cycles_total" not in counted.names()


def test_nothing_is_labelled_by_client(lab):
    assert "10.81.0.2" not in fetch(lab)
    labels = {name for _, labels in scrape(lab).samples for name, _ in labels}
    assert labels <= {"pool", "backend", "service", "protocol", "state", "reason", "kind", "le", "digest", "version", "path", "node", "port", "worker", "cpu"}


def test_other_paths_and_methods_are_told_what_there_is(lab):
    assert "/metrics" in fetch(lab, "/")
    curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"]
    for options, status in ((["/nothing"], "404"), (["/metrics", "-d", "x"], "413"), (["/metrics", "-X", "PUT"], "405"), (["/metrics", "-I"], "200")):
        assert lab.run("lb1", [*curl, f"http://{LISTEN}{options[0]}", *options[1:]])[1] == status


def test_rules_and_dashboard_name_metrics_that_exist(lab):
    names = scrape(lab).names() | {"guideway_api_certificate_expiry_timestamp_seconds", "up"}
    with open(f"{ROOT}/config/guideway.rules.yml", encoding="utf-8") as stream:
        rules = [rule for group in yaml.safe_load(stream)["groups"] for rule in group["rules"]]
    with open(f"{ROOT}/config/guideway.dashboard.json", encoding="utf-8") as stream:
        panels = json.load(stream)["panels"]
    recorded = {rule["record"] for rule in rules if "record" in rule}
    if lab.options.port.path == "xdp":  # only workers have these
        names |= {"guideway_worker_busy_cycles_total", "guideway_worker_cycles_total"}
    asked = [rule["expr"] for rule in rules] + [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(asked) > 40
    for expression in asked:
        used = set(re.findall(r"\b(?:\w+:)?(?:guideway|process)_\w+(?::\w+)?", expression))
        assert used - names - recorded == set(), expression


def test_the_page_has_every_metric_with_its_labels(lab):
    with open(f"{ROOT}/docs/metrics.md", encoding="utf-8") as stream:
        told = {name: set(labels.split(", ")) - {""} for name, labels in re.findall(r"^\| `(\w+)` \| ([^|]*) \|", stream.read(), re.M)}
    counted = scrape(lab)
    served = {}
    for name, labels in counted.samples:
        family = name if name in counted.types else re.sub("_(bucket|sum|count)$", "", name)
        served.setdefault(family, set()).update({label for label, _ in labels} - {"le"})
    assert {name: told.get(name) for name in served} == served
    if lab.options.port.path == "dpdk":
        assert set(told) - set(served) == {"guideway_api_certificate_expiry_timestamp_seconds"}


def falls(before, after):
    """Counters that are smaller than they were."""
    return {key: (before[key], value) for key, value in after.items() if value < before.get(key, 0)}


def test_counters_never_fall_when_a_backend_flaps_or_control_starts_anew(lab):
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=2)
    try:
        process.wait_for("traffic", lambda: len(flows.requests()) > 30)
        first = scrape(lab).counters()
        lab.stop("b1", "nginx", signal.SIGKILL)
        process.wait_for("b1 to be down", lambda: scrape(lab).value("guideway_backend_state", pool="web", backend="b1", state="down") == 1)
        down = scrape(lab).counters()
        assert falls(first, down) == {}
        router = lab.plan.node("lb1")
        lab.run("lb1", ["ip", "neigh", "flush", "dev", router.interface])
        lab.start("b1", "nginx")
        view.wait_all_up(lab)
        up = scrape(lab).counters()
        assert falls(down, up) == {}
        lab.stop("lb1", "control", signal.SIGKILL)
        lab.start("lb1", "control")
        process.wait_for("traffic after the start", lambda: "guideway_tx_packets_total" in scrape(lab).names())
        again = scrape(lab).counters()
    finally:
        flows.stop()
    # What control itself counts begins anew with it, as does its process.
    own = re.compile("guideway_(events|api|metrics|probe)_|process_")
    assert {key: value for key, value in falls(up, again).items() if not own.match(key[0])} == {}


def backend_take(lab, name):
    """Removes a backend from the file; returns a function that puts it back."""
    taken = []

    def remove(document):
        backends = document["pools"][0]["backends"]
        taken.extend(one for one in backends if one["name"] == name)
        document["pools"][0]["backends"] = [one for one in backends if one["name"] != name]

    config_change(lab, remove)
    return lambda: config_change(lab, lambda document: document["pools"][0]["backends"].extend(taken))


def test_a_removed_backends_series_go_and_come_back_where_they_were(lab):
    before = scrape(lab)
    names = {"pool": "web", "backend": "b2"}
    put_back = backend_take(lab, "b2")
    process.wait_for("b2's series to go", lambda: not scrape(lab).has("guideway_backend_packets_total", **names))
    without = scrape(lab)
    assert falls({key: value for key, value in before.counters().items() if dict(key[1]).get("backend") != "b2"}, without.counters()) == {}
    put_back()
    view.wait_all_up(lab)
    process.wait_for("b2's series to return", lambda: scrape(lab).has("guideway_backend_packets_total", **names))
    counted = scrape(lab)
    assert counted.value("guideway_backend_packets_total", **names) >= before.value("guideway_backend_packets_total", **names)


@pytest.mark.skipif(not os.environ.get("GUIDEWAY_CHECK_FULL"), reason="waits for more than a minute")
def test_who_gets_a_number_that_was_anothers_counts_from_nothing(lab):
    number = lab.json("lb1", ["guideway", "backend", "show", "b2"])["id"]
    assert scrape(lab).value("guideway_backend_packets_total", pool="web", backend="b2") > 0
    put_back = backend_take(lab, "b2")
    process.wait_for("b2 to go", lambda: not scrape(lab).has("guideway_backend_up", pool="web", backend="b2"))
    time.sleep(65)  # GW_FLOW_SWEEP_INTERVAL and the longest flow timeout
    other = {"name": "b9", "address": "10.82.0.199", "weight": 1}
    config_change(lab, lambda document: document["pools"][0]["backends"].append(other))
    assert lab.json("lb1", ["guideway", "backend", "show", "b9"])["id"] == number
    time.sleep(1.5)
    counted = scrape(lab)
    for name in ("packets", "bytes", "flows_new"):
        assert counted.value(f"guideway_backend_{name}_total", pool="web", backend="b9") == 0
    config_change(lab, lambda document: document["pools"][0]["backends"].pop())
    put_back()
    view.wait_all_up(lab)


def test_rules_are_right_and_do_what_their_tests_say():
    status, text = promtool("check", "rules", f"{ROOT}/config/guideway.rules.yml")
    assert status == 0 and "SUCCESS" in text, text
    status, text = promtool("test", "rules", f"{ROOT}/config/guideway.rules.test.yml")
    assert status == 0, text


def test_the_reading_of_the_format_knows_escapes():
    read = Scrape('# TYPE a counter\na{x="q\\"},{\\\\",y="2"} 3\n')
    assert read.value("a", x='q\\"},{\\\\', y="2") == 3
