# SPDX-License-Identifier: BSD-2-Clause
"""curl and wrk from the lab's client: the traffic that people know."""

import re
import subprocess

from labkit.plan import LabError

CONNECTIONS = 16


def url_of(address, path="/"):
    return f"http://[{address}]{path}" if ":" in address else f"http://{address}{path}"


def curl(lab, address):
    """One request by curl; the answering backend's name."""
    command = ["curl", "--silent", "--show-error", "--fail", "--max-time", "5", url_of(address)]
    status, out, err = lab.run("client", command)
    if status:
        raise LabError(f"curl {url_of(address)}: {err.strip() or f'exit status {status}'}")
    return out.strip()


class Wrk:
    """wrk at every address for some seconds, in the background."""

    def __init__(self, lab, addresses, seconds):
        self.children = []
        for address in addresses:
            argv, env = lab.command(
                "client",
                [
                    *("wrk", "-t", "1", "-c", str(CONNECTIONS), "--timeout", "5s"),
                    *("-d", f"{max(1, round(seconds))}s", url_of(address)),
                ],
            )
            self.children.append(
                subprocess.Popen(
                    argv,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    start_new_session=True,
                )
            )

    def running(self):
        return any(child.poll() is None for child in self.children)

    def finish(self):
        """Waits for the end: (requests, errors)."""
        requests = errors = 0
        for child in self.children:
            output = child.communicate(timeout=60)[0]
            more = parse(output)
            if more is None:
                raise LabError(f"wrk said: {output.strip()}")
            requests += more[0]
            errors += more[1]
        return requests, errors


def parse(output):
    """Requests and errors in wrk's report; None when it is none."""
    total = re.search(r"(\d+) requests in", output)
    if not total:
        return None
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
    status = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    count = sum(int(number) for number in errors.groups()) if errors else 0
    return int(total.group(1)), count + (int(status.group(1)) if status else 0)
