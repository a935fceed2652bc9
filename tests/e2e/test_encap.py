# SPDX-License-Identifier: BSD-2-Clause
"""Real HTTP through every encapsulation, changed while the balancer runs, in both families, outside and inside."""

import os

import pytest
import yaml
from labkit import view

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
SERVICES = [("203.0.113.40", "4in4"), ("2001:db8:113::40", "6in4"), ("203.0.113.60", "4in6"), ("2001:db8:113::60", "6in6")]
MODES = [
    {"encap": "gue"},
    {"encap": "gre"},
    {"encap": "l2"},
    {"encap": "gue", "gue_checksum": False, "entropy": True},
    {"encap": "ipip", "entropy": True},
]


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/encap.yaml", backends=2, **request.param)
    view.wait_all_up(made)
    return made


def pools_change(lab, keys):
    """Every pool gets these keys instead of the ones before."""
    path = lab.config_path(lab.plan.node("lb1"))
    with open(path, encoding="utf-8") as stream:
        document = yaml.safe_load(stream)
    document["pools"] = [
        {**{key: pool[key] for key in ("name", "backends")}, **keys} for pool in document["pools"]
    ]
    with open(path, "w", encoding="utf-8") as stream:
        yaml.safe_dump(document, stream, sort_keys=False)
    status, out, err = lab.run("lb1", ["guideway", "config", "reload"])
    assert status == 0, out + err


def taken(lab):
    shown = [lab.json(node.name, ["guideway-decap", "stats", "eth1"])[0] for node in lab.plan.bs]
    assert not any(sum(one["drops"].values()) for one in shown), shown
    names = shown[0]["packets"]
    return {name: sum(one["packets"][name] for one in shown) for name in names}


@pytest.mark.parametrize("keys", MODES, ids=lambda keys: "-".join(map(str, keys.values())))
def test_http_through_every_encapsulation(lab, keys):
    pools_change(lab, keys)
    for address, combination in SERVICES:
        before = taken(lab)
        url = f"http://[{address}]/big" if ":" in address else f"http://{address}/big"
        answers = set()
        # Sixty connections that all hash to one of two backends: once in 2^59 runs.
        for _ in range(60):
            status, out, err = lab.run("client", ["curl", "-sS", "--fail", "--max-time", "20", url])
            assert status == 0, err
            answers.add(out[:2])
            if answers == {"b1", "b2"}:
                break
        assert answers == {"b1", "b2"}
        grown = {name for name, count in taken(lab).items() if count != before[name]}
        mode = keys["encap"]
        by_mode = {"ipip": set(), "gue": {"gue"}, "gre": {"gre"}}
        assert grown == (set() if mode == "l2" else by_mode[mode] | {f"decap_{combination}"})


def test_l2_takes_an_upload_of_full_packets(lab, tmp_path):
    """Segments that fill 1500 bytes: l2 adds nothing to them."""
    pools_change(lab, {"encap": "l2"})
    (tmp_path / "file").write_bytes(os.urandom(1 << 20))
    command = ["curl", "-sS", "-o", "/dev/null", "--fail", "--max-time", "30", "--data-binary", f"@{tmp_path}/file"]
    for address, _ in SERVICES:
        url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
        status, _, err = lab.run("client", [*command, url])
        assert status == 0, err
