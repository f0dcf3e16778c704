"""A memcached that refuses, hangs, is late, lies or breaks off (catalogue S249-S266, bug case B93): it may cost hits,
never a request, and never a wrong byte."""

import time
import unittest

from harness import FaultProxy, Memcached, SystemTest, many, response, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class FaultyMemcached(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 0 }, memcached: { servers: "@MEMCACHED@", timeout: 50ms, connect_timeout: 200ms } }
  memory: { memory: { size: 16MiB, local_ttl: 0s }, memcached: { servers: "@MEMCACHED@", timeout: 50ms, on_failure: memory_only } }
routes:
  - { name: memory, match: { path: "/memory/**" }, upstream: app, cache: { store: memory } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.proxy = FaultProxy(cls.memcached)
        cls.addClassCleanup(cls.proxy.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.proxy.port}"}

    def setUp(self):
        self.proxy.set("pass")
        self.working()

    def new_path(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, path.encode() * 5))
        return path

    def right(self, path):
        got = self.get(path)
        self.assertEqual((got.status, got.body), (200, path.encode() * 5))
        return got

    def working(self):
        """Until memcached is used (again): no later than a breaker interval after it came back."""
        path = self.new_path()
        wait_until(lambda: self.right(path).why == "hit_fresh", "memcached to be used", 15)

    def reconnects(self):
        return self.etagere.metric("etagere_store_reconnects_total", store="default")

    def stored(self, count):
        paths = [self.new_path() for _ in range(count)]
        for path in paths:
            wait_until(lambda p=path: self.right(p).why == "hit_fresh", "an answer to be kept", 15)
        return paths

    def test_faults_never_reach_a_client(self):
        """S243, S250-S255, B93"""
        for fault, argument in (("hang", 0), ("truncate", 0), ("reset", 0), ("reset", 1), ("reset", 30), ("flip", 0),
                                ("flip", 5), ("flip", 60), ("swap", 0), ("duplicate", 0), ("oom", 0), ("garbage", 0)):
            with self.subTest(fault, argument=argument):
                old = self.stored(3)
                harmed = self.proxy.replies_harmed + len(self.proxy.requests)
                self.proxy.set(fault, argument)
                for path in old + [self.new_path() for _ in range(3)]:
                    for _ in range(2):
                        self.right(path)
                self.assertGreater(self.proxy.replies_harmed + len(self.proxy.requests), harmed)
                self.proxy.set("pass")
                for path in old:                                # nothing left in a socket answers now
                    self.right(path)
                self.working()

    def test_reply_after_the_deadline(self):
        """S252 (Dalli #956, php-memcached #531): the connection is gone, so the late reply is nobody's."""
        paths = self.stored(10)
        for _ in range(5):
            before, given_up = self.proxy.connections, self.reconnects()
            self.proxy.set("late")
            self.right(paths[0])
            # The client's deadline is over before that of the connection, which takes the reply as long as it waits.
            wait_until(lambda g=given_up: self.reconnects() > g, "the connection to be given up")
            self.proxy.set("pass")                              # now the late reply arrives
            for path in paths:
                self.right(path)
            self.working()
            self.assertGreater(self.proxy.connections, before)

    def test_refused(self):
        """S249: requests pass at once, and memcached is used again soon after it is back."""
        paths = self.stored(5)
        self.proxy.refuse()
        try:
            start = time.monotonic()
            for _ in range(20):
                for path in paths:
                    self.right(path)
            self.assertLess(time.monotonic() - start, 5)        # 100 requests
            self.assertGreaterEqual(self.etagere.metric("etagere_store_breaker_open"), 1)
        finally:
            self.proxy.listen()
        self.working()
        wait_until(lambda: self.etagere.metric("etagere_store_breaker_open") == 0, "both stores to have tried again")

    def test_hanging_costs_little(self):
        """S250: one deadline, then the breaker; S266: the writes that nobody takes are dropped, clients are not held."""
        paths = self.stored(5)
        self.proxy.set("hang")
        start = time.monotonic()
        for _ in range(20):
            for path in paths:
                self.right(path)
        for path in [self.new_path() for _ in range(100)]:
            self.right(path)
        self.assertLess(time.monotonic() - start, 10)           # 200 requests; 50 ms each would be 10 s and more
        self.proxy.set("pass")
        self.working()

    def test_flapping(self):
        """S254: no error, and neither descriptors nor connections pile up."""
        paths = self.stored(5)
        files = self.etagere.open_files()
        for _ in range(6):
            self.proxy.refuse()
            for path in paths:
                self.right(path)
            self.proxy.listen()
            for path in paths:
                self.right(path)
        self.working()
        self.assertLessEqual(self.etagere.open_files(), files + 5)

    def test_concurrent_clients_and_a_late_server(self):
        """B93: many keys in flight over the same lane."""
        paths = self.stored(20)
        for fault in ("late", "duplicate", "swap"):
            self.proxy.set(fault)
            many(20, lambda index: self.right(paths[index]))
            self.proxy.set("pass")
            many(20, lambda index: self.right(paths[index]))
            self.working()

    def test_memory_only(self):
        """`on_failure`: by default the store counts as empty; a route may go on with memory."""
        path, alone = self.path(), "/memory" + self.path()
        for each in (path, alone):
            self.origin.on(each, response(200, FRESH, b"x"))
            wait_until(lambda e=each: self.get(e).why == "hit_fresh", "an answer to be kept")
        self.proxy.refuse()
        try:
            self.assertNotEqual(self.get(path).why, "hit_fresh")
            wait_until(lambda: self.get(alone).why == "hit_fresh", "the memory level to go on alone")
        finally:
            self.proxy.listen()


class NoMemcachedAtAll(SystemTest):
    """Started with a memcached that does not exist: it serves, and says so."""
    CONFIG = FaultyMemcached.CONFIG

    @classmethod
    def prepare(cls):
        gone = FaultProxy(None)
        gone.refuse()
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{gone.port}"}

    def test_serves(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"x"))
        for _ in range(3):
            self.assertEqual(self.get(path).body, b"x")
        self.assertEqual(self.origin.hits(path), 3)


if __name__ == "__main__":
    unittest.main()
