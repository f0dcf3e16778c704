"""étagère in front of a real Go API that knows nothing of caching, with each store; and between that API and Rails.

Without a lifetime such answers cannot be kept (nobody could say when they are wrong), so étagère's tag saves bytes and
no work. A route that gives them a lifetime saves the work as well.
"""

import json
import threading
import unittest

from e2e import MEMCACHED, MEMORY, TIERS, Counted, EndToEnd, Go, Rails, hostname, many

go = None

# `minute.test` is the same API through a route that lets answers live for a minute.
CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  go: { endpoints: ["@GO@"], pool: { max_connections: 32, queue_timeout: 20s } }
stores:
  default: @STORE@
routes:
  - name: minute
    match: { host: minute.test, path: "/**" }
    upstream: go
    cache: { lifetime: { default: 60s } }
  - name: events
    match: { host: stream.test, path: /events }
    upstream: go
    stream: true
  - name: plain
    match: { path: "/**" }
    upstream: go
"""


def setUpModule():
    global go
    go = Go()


def tearDownModule():
    go.stop()
    Go.built.cleanup()


class GoTest(EndToEnd):
    @classmethod
    def values(cls):
        return {"GO": go.url}

    def origin(self, target):
        """What the API itself sends, and how often it has rendered after that."""
        answer = go.ask("GET", target)
        self.assertEqual((answer.status, answer["ETag"], answer["Cache-Control"]), (200, None, None))
        return answer, go.renders

    def item(self):
        return f"/items/{5_000 + self.page()}"


class WhatEveryStoreDoes:
    CONFIG = CONFIG

    def test_answers_get_a_tag_and_whoever_has_them_gets_304(self):
        for target, size in (("/items?page=1", 130_000), (self.item(), 100), ("/slow?n=1", 80)):
            with self.subTest(target):
                origin, before = self.origin(target)
                client = self.client()
                first = client.get(target)
                self.assertSame(first, 200, origin.body)
                self.assertRegex(first["ETag"], r'\AW/"[0-9A-Za-z_-]+"\Z')
                whole = client.received
                self.assertGreater(whole, size)
                for _ in range(5):
                    answer = client.get(target, {"If-None-Match": first["ETag"]})
                    self.assertSame(answer, 304, b"")
                    self.assertEqual(answer["ETag"], first["ETag"])
                self.assertLess((client.received - whole) / 5, 700)
                self.assertEqual(go.renders - before, 6, "a tag of étagère's saves bytes, never work")

    def test_another_body_is_another_tag(self):
        target = self.item()
        client = self.client()
        first = client.get(target)
        self.change(target, {"name": "changed"})
        second = client.get(target, {"If-None-Match": first["ETag"]})
        self.assertSame(second, 200, self.origin(target)[0].body)
        self.assertNotEqual(first["ETag"], second["ETag"])

    def test_with_a_lifetime_the_work_is_done_once(self):
        for target in (f"/items?page={1 + self.page() % 9}", self.item(), f"/slow?n={self.page()}"):
            with self.subTest(target):
                origin, before = self.origin(target)
                client = self.client()
                first = self.kept(client, target, hostname("minute.test"))
                self.assertSame(first, 200, origin.body, "miss_cold")
                whole = client.received
                for _ in range(50):
                    self.assertSame(client.get(target, hostname("minute.test")), 200, origin.body, "hit_fresh")
                hits = client.received
                for _ in range(50):
                    answer = client.get(target, hostname("minute.test", {"If-None-Match": first["ETag"]}))
                    self.assertSame(answer, 304, b"", "hit_not_modified")
                    self.assertEqual(answer["ETag"], first["ETag"])
                self.assertEqual(go.renders - before, 1)
                self.assertGreater(hits - whole, 50 * len(origin.body))
                self.assertLess((client.received - hits) / 50, 700)

    def test_a_crowd_makes_the_api_work_once(self):
        target = f"/slow?crowd={self.page()}"
        origin, before = self.origin(target)

        def crowd(_):
            with Counted(self.etagere.address) as client:
                return client.get(target, hostname("minute.test"))
        for answer in many(24, crowd):
            self.assertSame(answer, 200, origin.body)
        self.assertLessEqual(go.renders - before, 3 if self.STORE == MEMCACHED else 1)   # as with Rails

    def test_head_fills_and_is_filled(self):
        target = self.item()
        origin, before = self.origin(target)
        client = self.client()
        self.assertSame(self.kept(client, target, hostname("minute.test"), method="HEAD"), 200, b"", "miss_cold")
        self.assertSame(client.get(target, hostname("minute.test")), 200, origin.body, "hit_fresh")
        self.assertSame(client.ask("HEAD", target, hostname("minute.test")), 200, b"", "hit_fresh")
        self.assertEqual(go.renders - before, 1)

    def test_a_write_through_the_cache_ends_the_lifetime(self):
        target = self.item()
        client = self.client()
        old = self.kept(client, target, hostname("minute.test"))
        self.assertSame(client.get(target, hostname("minute.test")), 200, old.body, "hit_fresh")
        written = client.ask("PUT", target, hostname("minute.test"), json.dumps({"name": "changed"}).encode())
        self.assertEqual(written.status, 200)
        new = client.get(target, hostname("minute.test", {"If-None-Match": old["ETag"]}))
        self.assertSame(new, 200, self.origin(target)[0].body)
        self.assertEqual(json.loads(new.body)["name"], "changed")

    def test_events_are_not_held_back(self):
        for host in ("shop.test", "minute.test", "stream.test"):
            with self.subTest(host):
                client = self.client()
                client.send(f"GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                head = client.read_final_head()
                self.assertEqual((head.status, head["Content-Type"]), (200, "text/event-stream"))
                self.assertEqual(head["Transfer-Encoding"], "chunked")
                events = client.reader.chunks("events")
                self.expect(events, b": listening\n\n")
                for text in ("one", "two", "three"):        # each is posted when the one before has arrived
                    self.assertEqual(json.loads(go.ask("POST", "/events", body=text.encode()).body), {"listeners": 1})
                    self.expect(events, f"data: {text}\n\n".encode())
                go.ask("POST", "/events", body=b"bye")
                self.expect(events, b"data: bye\n\n")
                self.assertRaises(StopIteration, lambda: next(events))

    def test_a_client_that_leaves_a_stream_is_told_on(self):
        client = self.client()
        client.send(b"GET /events HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        self.assertEqual(client.read_final_head().status, 200)
        client.close()
        gone = threading.Event()

        def listeners():                            # the API sees it by writing: that is what a post does
            return json.loads(go.ask("POST", "/events", body=b"anyone?").body)["listeners"]
        for _ in range(500):
            if listeners() == 0:
                return
            gone.wait(0.02)
        self.fail("the API still writes to a client that has left")

    def expect(self, events, wanted):
        got = b""
        while len(got) < len(wanted):
            got += next(events)
        self.assertEqual(got, wanted)

    def change(self, target, values):
        self.assertEqual(go.ask("PUT", target, body=json.dumps(values).encode()).status, 200)


class WithMemory(WhatEveryStoreDoes, GoTest):
    STORE = MEMORY


class WithMemcached(WhatEveryStoreDoes, GoTest):
    STORE = MEMCACHED

    def test_another_sidecar_has_a_hit_without_the_api(self):
        target = f"/slow?shared={self.page()}"
        origin, before = self.origin(target)
        first = self.kept(self.client(), target, hostname("minute.test"))
        self.assertSame(first, 200, origin.body, "miss_cold")
        other = self.start()
        self.addCleanup(other.stop)
        client = self.client(other)
        self.assertSame(client.get(target, hostname("minute.test")), 200, origin.body, "hit_fresh")
        answer = client.get(target, hostname("minute.test", {"If-None-Match": first["ETag"]}))
        self.assertSame(answer, 304, b"", "hit_not_modified")
        self.assertEqual(go.renders - before, 1)


class WithBothTiers(WhatEveryStoreDoes, GoTest):
    STORE = TIERS


class WhenMemcachedDies(GoTest):
    CONFIG, STORE = CONFIG, MEMCACHED

    def test_answers_stay_right(self):
        target = self.item()
        origin, _ = self.origin(target)
        client = self.client()
        for _ in range(3):
            self.assertSame(client.get(target, hostname("minute.test")), 200, origin.body)
        self.memcached.process.kill()
        self.memcached.process.wait(10)
        for _ in range(20):
            self.assertSame(client.get(target, hostname("minute.test")), 200, origin.body)
        page = self.client().get("/items?page=1", hostname("minute.test"))
        self.assertSame(page, 200, self.origin("/items?page=1")[0].body)


class BetweenTheTwo(EndToEnd):
    """The article's second half: the Go API consumes the Rails API, with étagère on the way out (egress)."""

    CONFIG = """
version: 1
listeners:
  outward: { address: "127.0.0.1:0", role: egress }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  rails: { endpoints: ["@RAILS@"], pool: { max_connections: 5, queue_timeout: 20s } }
stores:
  default: @STORE@
egress:
  - { name: products, match: { path: "/**" }, upstream: rails }
"""

    @classmethod
    def setUpClass(cls):
        cls.rails = Rails()
        cls.addClassCleanup(cls.rails.stop)
        super().setUpClass()
        cls.through = Go("http://127.0.0.1:%d/api/products" % cls.etagere.address[1])
        cls.addClassCleanup(cls.through.stop)
        cls.direct = Go(cls.rails.url + "/api/products")
        cls.addClassCleanup(cls.direct.stop)

    @classmethod
    def values(cls):
        return {"RAILS": cls.rails.url}

    def shop(self, app, form, times):
        """Asks `times` times for a page of its own; (times the consumer was told 304, bytes it received, renders)."""
        page = self.page()
        body = self.rails.ask("GET", f"/api/products?page={page}").body
        before, told, received = self.rails.renders, 0, 0
        for _ in range(times):
            answer = app.ask("GET", f"/shop?page={page}&etag={form}")
            self.assertSame(answer, 200, body)
            told += answer["X-Products-Status"] == "304"
            received += int(answer["X-Products-Bytes"])
        return told, received // len(body), self.rails.renders - before

    def test_the_consumer_as_printed_brings_nothing_alone_and_everything_through_the_sidecar(self):
        self.assertEqual(self.shop(self.direct, "printed", 10), (0, 10, 10))
        self.assertEqual(self.shop(self.through, "printed", 10), (9, 1, 1))

    def test_the_corrected_consumer(self):
        self.assertEqual(self.shop(self.direct, "corrected", 10), (9, 1, 1))
        self.assertEqual(self.shop(self.through, "corrected", 10), (9, 1, 1))

    def test_a_consumer_without_validators_saves_the_rendering_only_through_the_sidecar(self):
        self.assertEqual(self.shop(self.direct, "plain", 10), (0, 10, 10))
        self.assertEqual(self.shop(self.through, "plain", 10), (0, 10, 1))

    def test_a_change_arrives(self):
        page = self.page()
        target = f"/shop?page={page}&etag=printed"
        self.assertSame(self.through.ask("GET", target), 200)
        self.rails.change(page, name="Changed at its source")
        answer = self.through.ask("GET", target)
        self.assertEqual(answer["X-Products-Status"], "200")
        self.assertEqual(json.loads(answer.body)["products"][0]["name"], "Changed at its source")


if __name__ == "__main__":
    unittest.main()
