# SPDX-License-Identifier: BSD-2-Clause
"""HTTP through the service addresses, on every path, and what `lookup` says of it."""

import pytest
from labkit import traffic, view
from labkit.plan import DEFAULT_SERVICE, ROUTED

import paths

V4, V6 = DEFAULT_SERVICE


@pytest.fixture(scope="module", params=paths.EVERY)
def lab(request, make_module_lab):
    made = make_module_lab(**request.param)
    view.wait_all_up(made)
    return made


def get(lab, address, *options, path="/"):
    url = f"http://[{address}]{path}" if ":" in address else f"http://{address}{path}"
    return lab.run("client", ["curl", "-sS", "--fail", "--max-time", "20", *options, url])


@pytest.mark.parametrize("address", DEFAULT_SERVICE)
def test_http_answers_and_every_backend_takes_part(lab, address):
    flows = traffic.Traffic(lab, [address], rate=150, keep=0)
    try:
        view.process.wait_for("300 requests", lambda: len(flows.requests()) >= 300)
    finally:
        flows.stop()
    requests = flows.requests()
    assert traffic.failures(requests) == []
    shares = traffic.shares(requests)
    assert sorted(shares) == ["b1", "b2", "b3"]
    # 300 draws of 1/3: a deviation of 18 points is over six sigma
    assert all(abs(share - 1 / 3) < 0.18 for share in shares.values()), shares


@pytest.mark.parametrize("address", DEFAULT_SERVICE)
def test_a_download_of_many_packets_arrives_whole(lab, address):
    status, out, err = get(lab, address, "-o", "/dev/null", "-w", "%{size_download}", path="/big")
    assert status == 0, err
    assert int(out) == 1 << 20


@pytest.fixture
def small_segments(lab):
    """The client's path to the services is 1400 bytes wide, so that the tunnel fits around its packets."""
    gateways = ("10.81.0.1", "fd81::1")
    for routed, gateway in zip(ROUTED, gateways):
        command = ["ip", "route", "add", routed, "via", gateway, "mtu", "1400"]
        assert lab.run("client", command)[0] == 0
    yield
    for routed in ROUTED:
        assert lab.run("client", ["ip", "route", "del", routed])[0] == 0


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("address", DEFAULT_SERVICE)
def test_an_upload_of_many_packets_arrives(lab, address):
    script = "head -c 1000000 /dev/zero | curl -sS --fail -g --max-time 30 --data-binary @- "
    url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
    status, out, err = lab.run("client", ["sh", "-c", script + url])
    assert status == 0, err
    assert out.strip() in ("b1", "b2", "b3")


@pytest.mark.parametrize("address", DEFAULT_SERVICE)
def test_lookup_names_the_backend_that_answers(lab, address):
    client = lab.plan.client.ipv6 if ":" in address else lab.plan.client.ipv4
    form = "tcp [{}]:{} [{}]:80" if ":" in address else "tcp {}:{} {}:80"
    first = 3000 if ":" in address else 2000  # below those that the kernel gives out
    for port in range(first, first + 12):
        status, out, err = get(lab, address, "--local-port", str(port))
        assert status == 0, err
        said = lab.json("lb1", ["guideway", "lookup", form.format(client, port, address)])
        assert said["backend"] == out.strip()
        assert said["service"] == "web" and said["pool"] == "web"


def test_lookup_without_the_daemon_says_the_same(lab):
    flow = f"tcp 198.51.100.7:40000 {V4}:80"
    online = lab.json("lb1", ["guideway", "lookup", flow])
    config = lab.config_path(lab.plan.node("lb1"))
    offline = lab.json("lb1", ["guideway", "lookup", flow, "--config", config])
    for field in ("service", "pool", "hash", "slot", "backend", "table_size", "digest"):
        assert offline[field] == online[field], field


def test_a_port_without_service_is_dropped_under_its_name(lab):
    before = view.drops_of(lab).get("no_service", 0)
    status, _, _ = lab.run("client", ["curl", "-s", "--max-time", "1", f"http://{V4}:81/"])
    assert status == 28  # timed out: no answer, no reset
    assert view.drops_of(lab).get("no_service", 0) > before


def test_every_input_packet_is_accounted_for(lab):
    get(lab, V4)

    def balanced():
        shown = lab.json("lb1", ["guideway", "drops"])
        outcomes = ("tx", "to_host", "replied", "consumed", "held")
        return shown["rx"] == sum(shown[name] for name in outcomes) + sum(shown["drops"].values())

    # counters of several workers or CPUs are not read at one moment: it must settle
    view.process.wait_for("rx = sum of outcomes", balanced, interval=0.2)


def test_the_balancers_own_addresses_still_answer(lab):
    for address in (lab.plan.node("lb1").ipv4, lab.plan.node("lb1").ipv6):
        script = (
            "import socket,sys; s=socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET);"
            "s.settimeout(20)\n"
            "try: s.connect((sys.argv[1], 9))\n"
            "except ConnectionRefusedError: print('refused')"
        )
        status, out, err = lab.run("client", ["/usr/bin/python3", "-c", script, address])
        assert out.strip() == "refused", (address, err)
