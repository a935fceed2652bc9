# SPDX-License-Identifier: BSD-2-Clause
"""`guideway doctor` finds what is broken in a namespace, and the command that it prints mends it."""

import json

import pytest
from labkit import process, view
from labkit.plan import DEFAULT_SERVICE


FORWARDING = "net.ipv4.conf.eth1.forwarding"


@pytest.fixture(scope="module")
def lab(make_module_lab):
    made = make_module_lab(path="xdp", xdp_mode="native", backends=2)
    view.wait_all_up(made)
    status, out, err = made.run("lb1", ["guideway", "setup", "--apply"])
    assert status == 0, out + err
    return made


def shell(lab, command):
    status, out, err = lab.run("lb1", ["sh", "-c", command])
    assert status == 0, (command, out, err)


def doctor(lab, *words):
    status, out, err = lab.run("lb1", ["guideway", "doctor", "--json", *words])
    report = json.loads(out)
    assert status == (1 if report["findings"] else 0), err
    assert report["findings"] == sum(look["state"] == "finding" for look in report["checks"])
    return report


def findings(lab):
    return [look for look in doctor(lab)["checks"] if look["state"] == "finding"]


def test_setup_leaves_nothing_to_find(lab):
    assert findings(lab) == []
    assert "nothing to do" in lab.run("lb1", ["guideway", "setup"])[1]
    status, out, _ = lab.run("lb1", ["guideway", "doctor", "--all"])
    assert status == 0 and "eth1 is up" in out


@pytest.mark.parametrize(
    "check, breaks, said",
    [
        ("mtu", "ip link set dev eth1 mtu 1519", "1519"),
        ("rp_filter", "sysctl -qw net.ipv4.conf.eth1.rp_filter=1", "strict"),
        ("rp_filter", "sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.eth1.rp_filter=0", "strict"),
        ("forwarding", f"sysctl -qw {FORWARDING}=0", "not forwarded"),
        ("queues", "ethtool -L eth1 rx 1", "1 receive queues"),
        ("vip", f"ip address add {DEFAULT_SERVICE[0]}/32 dev lo", DEFAULT_SERVICE[0]),
        ("vip", f"ip -6 address add {DEFAULT_SERVICE[1]}/64 dev lo", DEFAULT_SERVICE[1]),
    ],
)
def test_what_is_broken_is_found_and_mended_by_the_command_printed(lab, check, breaks, said):
    try:
        shell(lab, breaks)
    except AssertionError:
        if check != "queues":
            raise
        pytest.skip("this kernel's veth has one queue")
    found = findings(lab)
    assert [look["check"] for look in found] == [check]
    assert said in found[0]["what"] and found[0]["why"]
    text = lab.run("lb1", ["guideway", "doctor"])[1]
    assert len(found[0]["commands"]) == 1
    for command in found[0]["commands"]:
        assert f"do          {command}\n" in text
        shell(lab, command)
    assert findings(lab) == []


def test_a_backend_without_a_route_is_found(lab):
    shell(lab, "ip route add unreachable 10.82.0.101/32")
    try:
        found = findings(lab)
        assert [look["check"] for look in found] == ["route"]
        assert "(web/b1)" in found[0]["what"]
    finally:
        shell(lab, "ip route del unreachable 10.82.0.101/32")


def test_an_interface_that_is_down_is_found(lab):
    shell(lab, "ip link add gwdown type veth peer name gwpeer && ip link set gwpeer up")
    with open(lab.config_path(lab.plan.node("lb1")), encoding="utf-8") as stream:
        text = stream.read()
    other = f"{lab.node_dir(lab.plan.node('lb1'))}/other.yaml"
    with open(other, "w", encoding="utf-8") as stream:
        stream.write(text.replace("name: eth1", "name: gwdown"))

    def found():
        return [look for look in doctor(lab, "--config", other)["checks"] if look["check"] == "interface"][0]

    try:
        assert found()["state"] == "finding" and "is down" in found()["what"]
        shell(lab, found()["commands"][0])
        process.wait_for("the carrier", lambda: found()["state"] == "ok")
    finally:
        shell(lab, "ip link del gwdown")


def test_only_the_configured_path_is_looked_at(lab, tmp_path):
    path = tmp_path / "dpdk.yaml"
    with open(lab.config_path(lab.plan.node("lb1")), encoding="utf-8") as stream:
        text = stream.read()
    path.write_text(text.replace("path: xdp", "path: dpdk").replace(", mode: native", ""))
    xdp = {look["check"] for look in doctor(lab)["checks"]}
    dpdk = {look["check"] for look in doctor(lab, "--config", str(path))["checks"]}
    assert {"huge_pages", "cpu", "irqbalance"} <= dpdk - xdp
    assert {"forwarding", "bpffs", "xdp_mode"} <= xdp - dpdk


def test_a_file_that_is_invalid_is_told(lab, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("version: 3\n")
    status, _, err = lab.run("lb1", ["guideway", "doctor", "--config", str(path)])
    assert status == 5 and "version" in err


