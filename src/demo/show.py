#!/usr/bin/env python3
"""Sends real requests through étagère and prints what each cost: milliseconds, bytes between client and étagère, bytes
between étagère and the API, and whether the API had to make the page.

    show.py CACHE_PORT API_PORT

Ends with 1 when a row is not what its name says: the demonstration is a test as well.
"""

import http.client
import json
import socket
import sys
import time

PAGE = "/api/products?page=1"


class CountingSocket(socket.socket):
    """Counts what it sends and receives."""

    sent = received = 0

    def sendall(self, data, *flags):
        self.sent += len(data)
        return super().sendall(data, *flags)

    def recv_into(self, *arguments):
        count = super().recv_into(*arguments)
        self.received += count
        return count


class Connection(http.client.HTTPConnection):
    """One kept connection to 127.0.0.1, as a client with a pool has it."""

    def connect(self):
        self.sock = CountingSocket()
        self.sock.settimeout(10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.connect((self.host, self.port))

    def ask(self, method, target, fields=None, body=None):
        if self.sock is None:
            self.connect()
        sock = self.sock
        sock.sent = sock.received = 0
        begin = time.perf_counter()
        self.request(method, target, body=body, headers=fields or {})
        response = self.getresponse()
        response.data = response.read()
        response.milliseconds = (time.perf_counter() - begin) * 1000
        response.wire = sock.sent + sock.received
        return response


class Show:
    def __init__(self, cache_port, api_port):
        self.cache = Connection("127.0.0.1", cache_port)
        self.api = Connection("127.0.0.1", api_port)
        self.wrong = []

    def traffic(self):
        return json.loads(self.api.ask("GET", "/traffic").data)

    def row(self, what, expect, fields=None, target=PAGE):
        """`expect`: status for the client, requests that reach the API, pages it makes."""
        before = self.traffic()
        response = self.cache.ask("GET", target, fields)
        cost = {name: value - before[name] for name, value in self.traffic().items()}
        told = (response.headers.get("Cache-Status") or "-").removeprefix("etagere; ")
        print(f"{what:<46}{response.status:>6}{response.milliseconds:>9.2f}{response.wire:>10,}"
              f"{cost['bytes_in'] + cost['bytes_out']:>10,}{cost['renders']:>7}   {told}", flush=True)
        got = (response.status, cost["requests"], cost["renders"])
        if got != expect:
            self.wrong.append(f"{what}: status, requests and pages made are {got}, not {expect}")
        return response

    def run(self):
        print(f"\n{'':<46}{'':>6}{'':>9}{'bytes on the wire':>20}{'pages':>7}")
        print(f"{'GET ' + PAGE:<46}{'status':>6}{'ms':>9}{'client':>10}{'API':>10}{'made':>7}   Cache-Status")
        first = self.row("miss: the API makes the page", (200, 1, 1))
        tag = first.headers["ETag"]
        mine = {"If-None-Match": tag}
        second = self.row("hit: étagère has it", (200, 0, 0))
        self.row("304: and so has the client (If-None-Match)", (304, 0, 0), mine)

        lifetime = int(first.headers["Cache-Control"].partition("max-age=")[2])
        print(f"  … {lifetime} s later the page is no longer fresh: the API is asked, with the stored ETag", flush=True)
        time.sleep(lifetime + 0.5)
        third = self.row("revalidation: the API says 304, no page made", (200, 1, 0))

        time.sleep(lifetime + 0.5)
        self.row("revalidation for a client that has it", (304, 1, 0), mine)

        print("  … a product is changed through étagère (PUT /api/products/1), and the page runs out again", flush=True)
        if self.cache.ask("PUT", "/api/products/1", body=json.dumps({"price_cents": 999})).status != 200:
            self.wrong.append("the change was refused")
        time.sleep(lifetime + 0.5)
        changed = self.row("revalidation: the API sends a new page", (200, 1, 1), mine)

        if not first.data == second.data == third.data:
            self.wrong.append("the bodies of the same page differ")
        if changed.headers["ETag"] == tag or json.loads(changed.data)["products"][0]["price_cents"] != 999:
            self.wrong.append("the change did not arrive")
        for wrong in self.wrong:
            print(f"WRONG  {wrong}")
        return 1 if self.wrong else 0


if __name__ == "__main__":
    sys.exit(Show(int(sys.argv[1]), int(sys.argv[2])).run())
