"""The load generator where there is no Go: the same flags, the same answers, a thread for each connection.

It costs more processor time a request than the servers it measures, so its rates are lower bounds; what it checks of
watches is as good as the other's.
"""

from __future__ import annotations

import argparse
import http.client
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

Json = dict[str, Any]
Work = Callable[[http.client.HTTPSConnection, int], bytes]


def main() -> None:
    options = _options()
    answer = {"get": _get, "create": _create, "list": _list, "watch": _watch}[options.mode](options)
    sys.stdout.buffer.write(orjson.dumps(answer))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, kind, default in (
        ("mode", str, "get"),
        ("server", str, ""),
        ("ca", str, ""),
        ("cert", str, ""),
        ("key", str, ""),
        ("connections", int, 16),
        ("seconds", float, 3.0),
        ("count", int, 0),
        ("path", str, ""),
        ("body", str, ""),
        ("accept", str, "application/json"),
        ("prefix", str, "object"),
        ("watchers", int, 1000),
    ):
        parser.add_argument(f"-{name}", type=kind, default=default)
    return parser.parse_args()


def _connect(options: argparse.Namespace) -> http.client.HTTPSConnection:
    context = ssl.create_default_context(cafile=options.ca)
    context.load_cert_chain(options.cert, options.key)
    address = urlsplit(options.server)
    return http.client.HTTPSConnection(address.hostname or "", address.port, context=context, timeout=600)


def _ask(connection: http.client.HTTPSConnection, options: argparse.Namespace, path: str, body: bytes = b"") -> bytes:
    headers = {"Accept": options.accept} | ({"Content-Type": "application/json"} if body else {})
    connection.request("POST" if body else "GET", path, body or None, headers)
    answer = connection.getresponse()
    said = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{path}: {answer.status} {said[:300]!r}")
    return said


def _hammer(options: argparse.Namespace, numbers: Iterator[int], work: Work) -> Json:
    took: list[float] = []
    lock = threading.Lock()

    def send() -> None:
        connection = _connect(options)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            began = time.perf_counter()
            work(connection, number)
            took.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    with ThreadPoolExecutor(options.connections) as pool:
        for done in [pool.submit(send) for _ in range(options.connections)]:
            done.result()
    seconds = time.perf_counter() - began
    took.sort()
    return {
        "requests": len(took),
        "seconds": seconds,
        "per_second": len(took) / seconds,
        "ms_p50": took[len(took) // 2],
        "ms_p99": took[int((len(took) - 1) * 0.99)],
    }


def _numbers(options: argparse.Namespace, *, counts: bool = True) -> Iterator[int]:
    """0, 1, 2 ... up to the count if there is one and it `counts`, else until the time is over."""
    if options.count and counts:
        yield from range(options.count)
        return
    end, number = time.perf_counter() + options.seconds, 0
    while time.perf_counter() < end:
        yield number
        number += 1


def _get(options: argparse.Namespace) -> Json:
    def work(connection: http.client.HTTPSConnection, number: int) -> bytes:
        which = str(number * 2654435761 % (options.count or 1))
        return _ask(connection, options, options.path.replace("{number}", which))

    return _hammer(options, _numbers(options, counts=False), work)


def _create(options: argparse.Namespace) -> Json:
    body = Path(options.body).read_bytes()

    def work(connection: http.client.HTTPSConnection, number: int) -> bytes:
        named = body.replace(b"{name}", f"{options.prefix}-{number}".encode())
        return _ask(connection, options, options.path, named)

    return _hammer(options, _numbers(options), work)


def _list(options: argparse.Namespace) -> Json:
    answer = _hammer(options, _numbers(options), lambda connection, _: _ask(connection, options, options.path))
    sample = _ask(_connect(options), options, options.path)
    listed = orjson.loads(sample)
    return answer | {
        "bytes": len(sample),
        "items": len(listed.get("items") or listed.get("rows") or ()),
        "continue": listed["metadata"].get("continue", ""),
    }


class _Watcher:
    """One watch in a thread of its own, resumed where it was when the server ends it."""

    def __init__(self, options: argparse.Namespace, version: int) -> None:
        self._options = options
        self._version = version
        self.seen: set[int] = set()
        self.doubled = self.disordered = self.resumed = 0
        self._open()

    def _open(self) -> None:
        connection = _connect(self._options)
        query = f"?watch=1&timeoutSeconds=600&resourceVersion={self._version}"
        connection.request("GET", self._options.path + query, headers={"Accept": self._options.accept})
        self._stream = connection.getresponse()
        if self._stream.status != 200:
            raise RuntimeError(f"watch: {self._stream.status}")

    def receive(self, deadline: float) -> None:
        while len(self.seen) < self._options.count and time.perf_counter() < deadline:
            line = self._stream.readline()
            if line:
                self._note(orjson.loads(line)["object"]["metadata"])
            else:
                self.resumed += 1
                self._open()

    def _note(self, metadata: Json) -> None:
        prefix, _, digits = metadata["name"].rpartition("-")
        if prefix != self._options.prefix:
            return  # Controllers keep objects of their own in every namespace.
        version, number = int(metadata["resourceVersion"]), int(digits)
        self.disordered += version <= self._version
        self.doubled += number in self.seen
        self._version = version
        self.seen.add(number)


def _watch(options: argparse.Namespace) -> Json:
    listed = orjson.loads(_ask(_connect(options), options, options.path))
    began = time.perf_counter()
    version = int(listed["metadata"]["resourceVersion"])
    with ThreadPoolExecutor(options.watchers) as pool:
        watchers = list(pool.map(lambda _: _Watcher(options, version), range(options.watchers)))
        first = time.perf_counter()
        receiving = [pool.submit(each.receive, first + options.seconds) for each in watchers]
        written = _create(options)
        for each in receiving:
            each.result()
    seconds = time.perf_counter() - first
    delivered = sum(len(each.seen) for each in watchers)
    return {
        "watchers": options.watchers,
        "events": options.count,
        "delivered": delivered,
        "lost": options.watchers * options.count - delivered,
        "doubled": sum(each.doubled for each in watchers),
        "disordered": sum(each.disordered for each in watchers),
        "resumed": sum(each.resumed for each in watchers),
        "open_seconds": first - began,
        "write_seconds": written["seconds"],
        "seconds": seconds,
        "per_second": delivered / seconds,
        "why": "",
    }


if __name__ == "__main__":
    main()
