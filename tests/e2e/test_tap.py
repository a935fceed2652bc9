# SPDX-License-Identifier: BSD-2-Clause
"""XDP on a tap device: a frame of every size comes in and leaves unchanged but for its MACs (mode l2)."""

import json
import os
import subprocess

import pytest
from labkit import process

HERE = os.path.dirname(os.path.realpath(__file__))
ADDRESS = "203.0.113.70"
CONFIG = """\
version: 1
node: {{name: lb1, source_ipv4: 10.9.0.1}}
dataplane: {{path: xdp, interfaces: [{{name: tap0, mode: {mode}}}], flows: 4096}}
state_dir: {folder}/state
defaults: {{healthcheck: {{type: none}}}}
pools: [{{name: raw, encap: l2, backends: [{{name: b1, address: 10.9.0.2}}]}}]
services: [{{name: raw, addresses: [{address}], protocol: udp, ports: [9], pool: raw}}]
api: {{unix: {folder}/control.sock}}
"""


@pytest.fixture(scope="module")
def lab(make_module_lab):
    return make_module_lab(start=False, backends=1)


@pytest.mark.parametrize("mode", ["native", "generic"])
def test_every_size_of_frame_goes_through_a_tap(lab, tmp_path, mode):
    file = tmp_path / "guideway.yaml"
    file.write_text(CONFIG.format(mode=mode, folder=tmp_path, address=ADDRESS))
    argv, env = lab.command("lb1", ["/usr/bin/python3", f"{HERE}/tap_sizes.py", ADDRESS])
    tap = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    argv, env = lab.command("lb1", ["guideway-control", "-c", str(file)])
    env = {**env, "GUIDEWAY_SOCKET": f"{tmp_path}/control.sock"}
    control = None
    try:
        assert tap.stdout.readline() == "ready\n"
        control = subprocess.Popen(argv, env=env)

        def in_force():
            command = ["guideway", "--socket", f"{tmp_path}/control.sock", "table", "show", "raw", "--json"]
            status, out, _ = lab.run("lb1", command)
            return status == 0 and json.loads(out)["backends"]

        process.wait_for("the table", in_force)
        out, _ = tap.communicate("go\n", timeout=60)
        assert json.loads(out) == list(range(60, 1515))
    finally:
        tap.kill()
        if control:
            control.terminate()
            control.wait(20)
        tap.wait()
