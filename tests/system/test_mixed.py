"""Many clients, writes, a bad origin and a flapping memcached at the same time; every answer proves itself.

A body names its path, tenant and version and ends with a digest of itself, so that a client can tell a wrong, torn, foreign
or outdated answer without trusting a single field."""

import hashlib
import random
import threading
import time
import unittest

from harness import FaultProxy, Memcached, SystemTest, WireError, many, wait_until

SECONDS = 6
KEYS, TENANTS = 12, ("a", "b")


def content(path, tenant, version, size):
    text = f"{path} {tenant} {version} ".encode()
    text += bytes(random.Random(f"{path}{tenant}{version}").randbytes(size))
    return text + hashlib.sha256(text).digest()


def read_content(body):
    """(path, tenant, version), or an error for what is no intact content."""
    if hashlib.sha256(body[:-32]).digest() != body[-32:]:
        raise AssertionError(f"torn or mixed body: {body[:60]!r}, {len(body)} bytes")
    path, tenant, version, _ = body.split(b" ", 3)
    return path.decode(), tenant.decode(), int(version)


class Mixed(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"], pool: { max_connections: 12, queue: 1000, queue_timeout: 10s } }
stores:
  default: { memory: { size: 1MiB, max_object: 256KiB, local_ttl: 0s }, memcached: { servers: "@MEMCACHED@", timeout: 30ms } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.proxy = FaultProxy(cls.memcached)
        cls.addClassCleanup(cls.proxy.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.proxy.port}"}
        cls.versions, cls.posts = {}, []
        cls.origin.default = cls.answer

    @classmethod
    def answer(cls, exchange):
        ask, chance = exchange.request, random.random()
        if ask.method == "POST":
            with cls.origin.lock:
                version = cls.versions[ask.path] = cls.versions.get(ask.path, 0) + 1
                cls.posts.append(ask.body)
            exchange.answer(200, (), b"%d" % version)
            return
        with cls.origin.lock:
            version = cls.versions.get(ask.path, 0)
        tenant, key = ask["X-Tenant"], int(ask.path.rpartition("-")[2])
        fields = [("ETag", f'"{tenant}{version}"'), ("Vary", "X-Tenant"),
                  ("Cache-Control", ("max-age=60", "public", "max-age=0", "private")[key % 4])]
        if ask["If-None-Match"] == f'"{tenant}{version}"':
            exchange.answer(304, fields)
            return
        body = content(ask.path, tenant, version, (key * 7919) % 150_000)
        if chance < 0.02:
            exchange.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:len(body) // 2])
            exchange.reset()
        elif chance < 0.03:
            exchange.close()
        elif chance < 0.04:
            exchange.answer(500, {"Cache-Control": "no-store"}, b"oops")
        else:
            exchange.answer(200, fields, body)
            if chance < 0.1:
                exchange.close()

    def load(self, seed):
        """One client; returns how many right answers it got."""
        dice, right, known = random.Random(seed), 0, {}
        end = time.monotonic() + SECONDS
        client = self.etagere.client()
        while time.monotonic() < end:
            path, tenant = f"/key-{int(dice.random() ** 2 * KEYS)}", dice.choice(TENANTS)
            kind = dice.random()
            try:
                if kind < 0.02:
                    done = client.ask("POST", path, (), f"{seed}-{kind}".encode())
                    if done.status == 200:
                        with self.origin.lock:              # this one; another's may be under way
                            self.acknowledged[path] = max(self.acknowledged.get(path, 0), int(done.body))
                    continue
                if kind < 0.04:                                # a client that leaves in the middle
                    client.send(b"GET %s HTTP/1.1\r\nHost: shop.test\r\nX-Tenant: %s\r\n\r\n" % (path.encode(), tenant.encode()))
                    client.reset()
                    client = self.etagere.client()
                    continue
                fields, method = {"X-Tenant": tenant}, "HEAD" if kind < 0.07 else "GET"
                if kind > 0.8 and (path, tenant) in known:
                    fields["If-None-Match"] = known[path, tenant]
                with self.origin.lock:
                    least = self.acknowledged.get(path, 0)
                got = client.ask(method, path, fields)
                if got.status in (200, 304):
                    known[path, tenant] = got["ETag"]
                if got.status == 200 and method == "GET":
                    told = read_content(got.body)
                    if told[:2] != (path, tenant):
                        raise AssertionError(f"asked for {path} of {tenant}, got {told}")
                    if f'"{tenant}{told[2]}"' != got["ETag"]:
                        raise AssertionError(f"{told} under the tag {got['ETag']}")
                    if told[2] < least:
                        raise AssertionError(f"{told} although version {least} had been acknowledged")
                    right += 1
                elif got.status not in (200, 304, 500, 502):
                    raise AssertionError(f"{got} for {path}")
            except (WireError, OSError):
                client.close()
                client = self.etagere.client()
        client.close()
        return right

    def test_no_wrong_answer(self):
        self.acknowledged = {}
        stop = threading.Event()

        def trouble():
            dice = random.Random(1)
            faults = (("pass", 0), ("hang", 0), ("truncate", 0), ("reset", 20), ("flip", 30), ("swap", 0), ("oom", 0),
                      ("garbage", 0), ("duplicate", 0), ("late", 0))
            while not stop.wait(0.2):
                self.proxy.set(*dice.choice(faults))
                if dice.random() < 0.1:
                    self.memcached.flush()
            self.proxy.set("pass")
        thread = threading.Thread(target=trouble)
        thread.start()
        try:
            right = many(10, self.load)
        finally:
            stop.set()
            thread.join()
        self.assertGreater(min(right), 10)
        self.assertEqual(len(self.posts), len(set(self.posts)), "a POST was executed twice")
        wait_until(lambda: self.etagere.metric("etagere_http_requests_in_flight") == 0, "all requests to end")


if __name__ == "__main__":
    unittest.main()
