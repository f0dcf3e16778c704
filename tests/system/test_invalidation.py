"""What a successful write does to the stored answers (catalogue S215, bug case B79): RFC 9111 §4.4."""

import threading
import unittest

from harness import Memcached, SystemTest, request, response, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class Invalidation(SystemTest):
    def stored(self, path=None):
        path = path or self.path()
        self.origin.on(path, response(200, FRESH, b"stored"))
        wait_until(lambda: self.get(path).why == "hit_fresh", "the answer to be kept")
        return path

    def asks_again(self, path):
        before = self.origin.hits(path)
        self.assertEqual(self.get(path).status, 200)
        return self.origin.hits(path) > before

    def write(self, path, method="POST", raw=response(200, (), b"done"), **more):
        self.origin.on(path, raw)
        got = self.ask(method, path, (), b"x", **more)
        self.origin.on(path, response(200, FRESH, b"stored"))
        return got

    def test_methods(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "FOO"):
            for status in (200, 201, 204, 303):
                with self.subTest(method, status=status):
                    path = self.stored()
                    got = self.write(path, method, response(status, (), b"" if status == 204 else b"done"))
                    self.assertEqual((got.status, got.why), (status, "invalidated"))
                    self.assertTrue(self.asks_again(path))

    def test_safe_methods_and_errors_leave_it(self):
        for method, status in (("OPTIONS", 200), ("POST", 400), ("POST", 404), ("PUT", 500), ("DELETE", 403)):
            with self.subTest(method, status=status):
                path = self.stored()
                self.write(path, method, response(status, (), b"done"))
                self.assertFalse(self.asks_again(path))

    def test_every_variant_goes(self):
        path = self.path()
        vary = response(200, {**FRESH, "Vary": "X-A"}, b"stored")
        self.origin.on(path, vary)
        for value in ("a", "b"):
            wait_until(lambda v=value: self.get(path, {"X-A": v}).why == "hit_fresh", "the variant to be kept")
        before = self.origin.hits(path)
        self.write(path)
        self.origin.on(path, vary)
        for value in ("a", "b"):
            self.get(path, {"X-A": value})
        self.assertEqual(self.origin.hits(path), before + 3)

    def test_location_and_content_location(self):
        for name in ("Location", "Content-Location"):
            for case, value, gone in (
                ("path", "{p}", True), ("same host", "http://shop.test{p}", True), ("other host", "http://evil.test{p}", False),
                ("relative", "{last}", True), ("junk", "http://[", False), ("empty", "", False)):
                with self.subTest(name, case=case):
                    path, writer = self.stored(), self.path()
                    last = path.rpartition("/")[2]
                    self.write(writer, "POST", response(201, {name: value.format(p=path, last=last)}, b"done"))
                    self.assertEqual(self.asks_again(path), gone)

    def test_other_hosts_and_queries_stay(self):
        path = self.stored()
        for target, host in ((path, "other.test"), (path + "?q=1", "shop.test")):
            wait_until(lambda t=target, h=host: self.get(t, {"Host": h}).why == "hit_fresh", "the answer to be kept")
        self.write(path)
        before = self.origin.hits(path)
        self.get(path, {"Host": "other.test"})
        self.get(path + "?q=1")
        self.assertEqual(self.origin.hits(path), before)

    def test_write_during_a_fetch(self):
        """An answer asked for before the write may not be stored after it as if it were new."""
        path, hold = self.path(), threading.Event()
        self.origin.on(path, lambda e: (e.wait(hold), e.answer(200, FRESH, b"old")))
        client = self.client()
        client.send(request("GET", path))
        self.origin.wait_hits(path, 1)
        self.origin.on(path, response(200, (), b"done"))
        self.assertEqual(self.ask("POST", path, (), b"x").status, 200)
        self.origin.on(path, response(200, FRESH, b"new"))
        hold.set()
        self.assertEqual(client.read().status, 200)
        self.assertEqual(self.get(path).body, b"new")


class InvalidationInMemcached(Invalidation):
    """The same, through memcached: the entry is gone there, too."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 0 }, memcached: { servers: "@MEMCACHED@", timeout: 2s } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}"}


if __name__ == "__main__":
    unittest.main()
