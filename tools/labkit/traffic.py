# SPDX-License-Identifier: BSD-2-Clause
"""HTTP as an observer needs it: every request with its time, its backend and how it went.

Run inside the client's namespace as a program, `traffic.py --rate 50 --keep 6 URL-ADDRESS...`, it writes a
JSON line an event until it is ended:

  {"kind": "request", "address", "begin", "end", "backend"}          a new connection each
  {"kind": "request", "address", "begin", "end", "error"}
  {"kind": "kept", "id", "address", "begin", "end", "backend", "error"}   the next request of one connection

Times are of the monotonic clock, which all namespaces share. Traffic and Kept read what came back.
"""

import argparse
import asyncio
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

TIMEOUT = 10.0  # two lost SYNs take three seconds, and a busy machine its time
REQUEST = "GET / HTTP/1.1\r\nHost: lab\r\n{}\r\n"


def _emit(**event):
    print(json.dumps(event), flush=True)


async def _read_answer(reader):
    """One answer's body; a length is always given. The body is the backend's name."""
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.split(b" ", 2)[1]
    if status != b"200":
        raise ValueError(f"HTTP status {status.decode()}")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return (await reader.readexactly(int(value))).decode().strip()
    raise ValueError("answer without a length")


def _error_text(problem):
    return f"{type(problem).__name__} {problem}".strip()


async def _request_once(address, port):
    begin = time.monotonic()
    writer = None
    try:
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_connection(address, port)
            writer.write(REQUEST.format("Connection: close\r\n").encode())
            backend = await _read_answer(reader)
            await reader.read()
        result = {"backend": backend}
    except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError) as problem:
        result = {"error": _error_text(problem)}
    if writer:
        writer.close()
    _emit(kind="request", address=address, begin=begin, end=time.monotonic(), **result)


async def _request_loop(address, port, rate, running):
    """New connections at a steady rate, whatever becomes of those before."""
    due = time.monotonic()
    while True:
        task = asyncio.create_task(_request_once(address, port))
        running.add(task)
        task.add_done_callback(running.discard)
        due = max(due + 1 / rate, time.monotonic() - 1)
        await asyncio.sleep(max(0, due - time.monotonic()))


async def _keep_loop(number, address, port, interval):
    """One connection, a request each interval, until it breaks; it is not opened again."""
    begin = time.monotonic()
    backend = None
    try:
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_connection(address, port)
        while True:
            begin = time.monotonic()
            async with asyncio.timeout(TIMEOUT):
                writer.write(REQUEST.format("").encode())
                backend = await _read_answer(reader)
            _emit(kind="kept", id=number, address=address, begin=begin, end=time.monotonic(), backend=backend)
            await asyncio.sleep(interval)
    except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError) as problem:
        text = _error_text(problem)
        end = time.monotonic()
        _emit(kind="kept", id=number, address=address, begin=begin, end=end, backend=backend, error=text)


async def _main(args):
    loop = asyncio.get_running_loop()
    tasks = []
    running = set()
    number = 0
    for address in args.address:
        if args.rate:
            tasks.append(asyncio.create_task(_request_loop(address, args.port, args.rate, running)))
        for _ in range(args.keep):
            tasks.append(asyncio.create_task(_keep_loop(number, address, args.port, args.interval)))
            number += 1
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    await stop.wait()
    for task in tasks:
        task.cancel()
    # What hangs is told as well: no request is left without its end.
    if running:
        await asyncio.wait(running)


@dataclasses.dataclass
class Kept:
    """One connection that lives long: who serves it, its answers' times, how it broke if it did."""

    address: str
    backends: list = dataclasses.field(default_factory=list)
    answers: list = dataclasses.field(default_factory=list)
    error: str = ""
    error_at: float = 0.0

    @property
    def backend(self):
        return self.backends[0] if self.backends else None


class Traffic:
    """Traffic from a lab's client: started, looked at while it runs, ended."""

    def __init__(self, lab, addresses, rate=50, keep=6, interval=0.1, port=80):
        self.path = f"{lab.node_dir(lab.plan.client)}-traffic-{time.monotonic_ns()}.jsonl"
        argv, env = lab.command(
            "client",
            [
                *("/usr/bin/python3", os.path.realpath(__file__)),
                *("--rate", str(rate), "--keep", str(keep)),
                *("--interval", str(interval), "--port", str(port)),
                *addresses,
            ],
        )
        with open(self.path, "wb") as stream:
            self.child = subprocess.Popen(
                argv, env=env, stdin=subprocess.DEVNULL, stdout=stream, start_new_session=True
            )

    def stop(self):
        """Ends it when every request has its outcome; to be called in any case."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(2 * TIMEOUT)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()

    def events(self):
        with open(self.path, encoding="utf-8") as stream:
            # The last line may be half written. All is read at once: read line by line, its other half might come as the next line.
            whole = stream.read().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def requests(self, after=0.0, before=float("inf")):
        """Requests that began in a span of time."""
        return [
            event
            for event in self.events()
            if event["kind"] == "request" and after <= event["begin"] < before
        ]

    def kept(self):
        """The long-lived connections, by number."""
        found = {}
        for event in self.events():
            if event["kind"] != "kept":
                continue
            one = found.setdefault(event["id"], Kept(event["address"]))
            if "error" in event:
                one.error, one.error_at = event["error"], event["end"]
                continue
            one.answers.append(event["end"])
            if event["backend"] not in one.backends:
                one.backends.append(event["backend"])
        return found


def failures(requests):
    return [request for request in requests if "error" in request]


def shares(requests):
    """Share of each backend among the requests that were answered."""
    counts = {}
    for request in requests:
        if "backend" in request:
            counts[request["backend"]] = counts.get(request["backend"], 0) + 1
    total = sum(counts.values()) or 1
    return {name: count / total for name, count in sorted(counts.items())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="HTTP requests whose outcome is written as JSON lines")
    parser.add_argument("--rate", type=float, default=50, help="new connections a second, each address")
    parser.add_argument("--keep", type=int, default=0, help="connections that stay, each address")
    parser.add_argument("--interval", type=float, default=0.1, help="seconds between a kept one's requests")
    parser.add_argument("--port", type=int, default=80)
    parser.add_argument("address", nargs="+")
    try:
        asyncio.run(_main(parser.parse_args()))
    except KeyboardInterrupt:
        sys.exit(130)
