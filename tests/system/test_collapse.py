"""Collapsed forwarding (catalogue S224-S228, bug cases B85, B87): many clients, one request to the origin."""

import threading
import unittest

from harness import SystemTest, WireError, many, request, response, validating, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class Collapsing(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"], pool: { max_connections: 64 }, timeouts: { first_byte: 2s } }
routes:
  - { name: apart, match: { path: "/apart/**" }, upstream: app, cache: { collapse: off } }
  - { name: impatient, match: { path: "/impatient/**" }, upstream: app, cache: { collapse: { wait: 200ms } } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def held(self, answer, after=None):
        """A path whose answers wait for `self.go`; `after` answers the requests after the first."""
        self.go = threading.Event()
        self.addCleanup(self.go.set)
        path, go = self.path(), self.go

        def first(exchange):
            exchange.wait(go)
            answer(exchange)
        self.origin.on(path, [first, after] if after else first)
        return path

    def burst(self, path, count, ask=lambda index: ()):
        """Starts `count` requests; returns a function that waits for their results (None for a cut answer)."""
        clients = [self.client() for _ in range(count)]
        for index, client in enumerate(clients):
            client.send(request("GET", path, ask(index)))

        def results():
            got = []
            for client in clients:
                try:
                    got.append(client.read())
                except WireError:
                    got.append(None)
            return got
        return results

    def others_wait(self, count):
        """`count` requests are inside étagère: as far as a black box can tell that followers have joined."""
        wait_until(lambda: self.etagere.metric("etagere_http_requests_in_flight") >= count, f"{count} requests in flight")

    def test_misses(self):
        """S224, B85"""
        path = self.held(lambda e: e.answer(200, FRESH, b"body"))
        results = self.burst(path, 50)
        self.origin.wait_hits(path, 1)
        self.others_wait(50)
        self.go.set()
        got = results()
        self.assertEqual([(r.status, r.body) for r in got], [(200, b"body")] * 50)
        self.assertEqual(self.origin.hits(path), 1)
        self.assertGreaterEqual(sum(r.why == "collapsed_local" for r in got), 45)
        self.assertTrue(all(r.cache.get("collapsed") for r in got if r.why == "collapsed_local"))

    def test_revalidations(self):
        """The article's core: one question for everybody who waits."""
        path = self.path()
        go = threading.Event()
        self.addCleanup(go.set)
        valid = validating('"v1"', b"body", {"Cache-Control": "public"})
        self.origin.on(path, [valid, lambda e: (e.wait(go), valid(e))])
        self.get(path)
        results = self.burst(path, 30, lambda i: {"If-None-Match": '"v1"'} if i % 2 else {})
        self.origin.wait_hits(path, 2)
        self.others_wait(30)
        go.set()
        got = results()
        self.assertEqual([r.status for r in got], [200, 304] * 15)
        self.assertTrue(all(r.body == (b"body" if r.status == 200 else b"") and r["ETag"] == '"v1"' for r in got))
        self.assertEqual(self.origin.asked(path), ["full", "conditional"])

    def test_revalidation_that_brings_something_new(self):
        path, go = self.path(), threading.Event()
        self.addCleanup(go.set)
        self.origin.on(path, [validating('"v1"', b"old", {"Cache-Control": "public"}),
                              lambda e: (e.wait(go), validating('"v2"', b"new", {"Cache-Control": "public"})(e))])
        self.get(path)
        results = self.burst(path, 10)
        self.origin.wait_hits(path, 2)
        self.others_wait(10)
        go.set()
        self.assertEqual([r.body for r in results()], [b"new"] * 10)
        self.assertEqual(self.origin.hits(path), 2)

    def test_different_variants_do_not_share(self):
        """S226"""
        path, go = self.path(), threading.Event()
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.wait(go), e.answer(200, {**FRESH, "Vary": "X-A"}, e.request["X-A"].encode())))
        results = self.burst(path, 12, lambda i: {"X-A": f"v{i % 3}"})
        self.origin.wait_hits(path, 1)
        go.set()
        self.assertEqual([r.body for r in results()], [f"v{i % 3}".encode() for i in range(12)])

    def test_private_answers_are_not_shared_and_then_not_waited_for(self):
        """B87: hit-for-miss."""
        path, counter, lock = self.path(), iter(range(1000)), threading.Lock()

        def private(exchange):
            with lock:
                number = next(counter)
            exchange.answer(200, {"Cache-Control": "private"}, b"%d" % number)
        go = threading.Event()
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.wait(go), private(e)))
        results = self.burst(path, 20)
        self.origin.wait_hits(path, 1)
        self.others_wait(20)
        go.set()
        bodies = [r.body for r in results()]
        self.assertEqual(len(set(bodies)), 20)
        second = threading.Event()
        self.addCleanup(second.set)
        self.origin.on(path, lambda e: (e.wait(second), private(e)))
        results = self.burst(path, 20)
        self.origin.wait_for(lambda o: o.in_flight >= 20, "the second burst not to wait in line")
        second.set()
        got = results()
        self.assertEqual(len({r.body for r in got} | set(bodies)), 40)

    def test_leader_that_dies(self):
        """S220, S228: followers never hang and never get half an answer for a whole one."""
        for case, end in (("no answer", lambda e: e.close()),
                          ("head only", lambda e: (e.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                                                          b"Content-Length: 10\r\n\r\n"), e.close())),
                          ("half a body", lambda e: (e.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                                                            b"Content-Length: 10\r\n\r\nabcde"), e.reset()))):
            with self.subTest(case):
                path = self.held(end, response(200, FRESH, b"whole body"))
                results = self.burst(path, 10)
                self.origin.wait_hits(path, 1)
                self.others_wait(10)
                self.go.set()
                got = results()
                for each in got:
                    if each is not None and each.status == 200:
                        self.assertEqual(each.body, b"whole body")
                self.assertEqual(self.get(path).body, b"whole body")

    def test_client_of_the_leader_goes_away(self):
        """The fetch goes on for the others, or one of them takes over."""
        path = self.held(lambda e: e.answer(200, FRESH, b"body"), response(200, FRESH, b"body"))
        leader = self.client()
        leader.send(request("GET", path))
        self.origin.wait_hits(path, 1)
        results = self.burst(path, 10)
        self.others_wait(11)
        leader.reset()
        self.go.set()
        self.assertEqual([r.body for r in results()], [b"body"] * 10)
        self.assertLessEqual(self.origin.hits(path), 2)

    def test_origin_that_hangs(self):
        """S228: everybody gets 504 at the deadline, and the next request tries again."""
        path = self.held(lambda e: e.close(), response(200, FRESH, b"body"))
        results = self.burst(path, 40)
        self.origin.wait_hits(path, 1)
        self.assertTrue({r.status for r in results()} <= {504, 200})
        self.go.set()
        self.assertEqual(self.get(path).body, b"body")

    def test_follower_does_not_wait_for_ever(self):
        path = self.path()
        go = threading.Event()
        self.addCleanup(go.set)
        path = "/impatient" + path
        self.origin.on(path, [lambda e: (e.wait(go), e.answer(200, FRESH, b"slow")), response(200, FRESH, b"fast")])
        slow = self.client()
        slow.send(request("GET", path))
        self.origin.wait_hits(path, 1)
        self.assertEqual(self.get(path).body, b"fast")
        go.set()
        self.assertEqual(slow.read().body, b"slow")

    def test_switched_off(self):
        go = threading.Event()
        self.addCleanup(go.set)
        path = "/apart" + self.path()
        self.origin.on(path, lambda e: (e.wait(go), e.answer(200, FRESH, b"body")))
        results = self.burst(path, 10)
        self.origin.wait_for(lambda o: o.in_flight >= 10, "ten requests at the origin")
        go.set()
        self.assertEqual([r.body for r in results()], [b"body"] * 10)

    def test_followers_with_conditions_and_head(self):
        path = self.held(lambda e: e.answer(200, {**FRESH, "ETag": '"v1"'}, b"body"))
        leader = self.burst(path, 1)
        self.origin.wait_hits(path, 1)
        conditional = self.burst(path, 5, lambda i: {"If-None-Match": '"v1"'})
        heads = [self.client() for _ in range(3)]
        for head in heads:
            head.send(request("HEAD", path))
        self.others_wait(9)
        self.go.set()
        self.assertEqual(leader()[0].body, b"body")
        self.assertEqual([r.status for r in conditional()], [304] * 5)
        self.assertEqual([head.read("HEAD")["Content-Length"] for head in heads], ["4"] * 3)
        self.assertEqual(self.origin.hits(path), 1)

    def test_streams_and_unsafe_methods_are_not_collapsed(self):
        path, counter = self.path(), iter(range(1000))
        self.origin.on(path, lambda e: e.answer(200, FRESH, b"%d" % next(counter)))
        bodies = many(8, lambda i: self.ask("POST", path, (), b"x").body)
        self.assertEqual((len(set(bodies)), self.origin.hits(path)), (8, 8))


if __name__ == "__main__":
    unittest.main()
