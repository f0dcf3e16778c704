"""étagère in front of a real Rails 6.1 API on Puma, with each store.

The pages of /api/products carry a weak tag, `public` and no lifetime: what a cache may keep and must ask about every
time. So one page is rendered once however often it is asked for, while Rails is still asked. /defaults and /mine are
`private`.
"""

import json
import unittest

from e2e import MEMCACHED, MEMORY, TIERS, Counted, EndToEnd, Memcached, Rails, hostname, many, wait_until

rails = None

# `kept.test` is the same application through a route that keeps what is `private`, for each credential apart.
CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  rails: { endpoints: ["@RAILS@"], pool: { max_connections: 5, queue_timeout: 20s } }
stores:
  default: @STORE@
routes:
  - name: kept
    match: { host: kept.test, path: "/**" }
    upstream: rails
    cache: { private: revalidate }
  - name: plain
    match: { path: "/**" }
    upstream: rails
"""


def setUpModule():
    global rails
    rails = Rails()


def tearDownModule():
    rails.stop()


class RailsTest(EndToEnd):
    @classmethod
    def values(cls):
        return {"RAILS": rails.url}

    def setUp(self):
        self.number = self.page()
        self.target = f"/api/products?page={self.number}"

    def origin(self, target=None, fields=()):
        """What Rails itself sends, and the counters after that."""
        answer = rails.ask("GET", target or self.target, fields)
        self.assertEqual(answer.status, 200)
        return answer, rails.counters()

    def since(self, before):
        """(renders, requests) of Rails since `before`."""
        now = rails.counters()
        return now["renders"] - before["renders"], now["requests"] - before["requests"]


class WhatEveryStoreDoes:
    """The tests proper; the classes below run them with each store."""

    CONFIG = CONFIG

    def test_a_page_is_rendered_once_for_a_hundred_requests(self):
        origin, before = self.origin()
        client = self.client()
        first = self.kept(client, self.target)
        self.assertSame(first, 200, origin.body, "miss_cold")
        for _ in range(100):
            answer = client.get(self.target)
            self.assertSame(answer, 200, origin.body, "revalidated")
            self.assertEqual(answer["ETag"], origin["ETag"])
        self.assertEqual(self.since(before), (1, 101))

    def test_a_client_that_has_the_page_gets_304_and_nothing_is_rendered(self):
        origin, before = self.origin()
        client = self.client()
        self.assertSame(self.kept(client, self.target), 200, origin.body)
        whole = client.received
        for _ in range(100):
            answer = client.get(self.target, {"If-None-Match": origin["ETag"]})
            self.assertSame(answer, 304, b"")
            self.assertEqual(answer["ETag"], origin["ETag"])
            self.assertNotIn("Content-Length", answer.fields)
        self.assertEqual(self.since(before), (1, 101))
        self.assertGreater(whole, 35_000)
        self.assertLess((client.received - whole) / 100, 1_000)

    def test_a_cold_conditional_request_fills_the_cache_and_still_gets_304(self):
        origin, before = self.origin()
        client = self.client()
        self.assertSame(self.kept(client, self.target, {"If-None-Match": origin["ETag"]}), 304, b"")
        self.assertSame(client.get(self.target), 200, origin.body, "revalidated")
        self.assertEqual(self.since(before)[0], 1)

    def test_head_fills_the_cache(self):
        origin, before = self.origin()
        client = self.client()
        head = self.kept(client, self.target, method="HEAD")
        self.assertSame(head, 200, b"", "miss_cold")
        self.assertEqual(head["ETag"], origin["ETag"])
        self.assertSame(client.get(self.target), 200, origin.body, "revalidated")
        self.assertSame(client.ask("HEAD", self.target), 200, b"", "revalidated")
        self.assertEqual(self.since(before)[0], 1)

    def test_every_form_of_if_none_match_that_clients_send(self):
        origin, before = self.origin()
        opaque = origin["ETag"][3:-1]
        client = self.client()
        self.assertSame(self.kept(client, self.target), 200, origin.body)
        for form in (f'W/"{opaque}"', f'"{opaque}"', f'"other", W/"{opaque}"', f'W/"{opaque}","other"', "*",
                     opaque, f'/"{opaque}'):
            with self.subTest(form):
                answer = client.get(self.target, {"If-None-Match": form})
                self.assertSame(answer, 304, b"")
                self.assertEqual(answer["ETag"], origin["ETag"])
        for form in ('"other"', opaque[:-1], f'"{opaque}x"', f'/"{opaque[1:]}'):
            with self.subTest(form):
                self.assertSame(client.get(self.target, {"If-None-Match": form}), 200, origin.body)
        self.assertEqual(self.since(before)[0], 1)

    def test_a_date_alone_is_a_validator_too(self):
        origin, before = self.origin()
        client = self.client()
        self.assertSame(self.kept(client, self.target), 200, origin.body)
        self.assertSame(client.get(self.target, {"If-Modified-Since": origin["Last-Modified"]}), 304, b"")
        # RFC 9110 §13.1.3: a tag that does not match counts, however good the date is.
        answer = client.get(self.target, {"If-Modified-Since": origin["Last-Modified"], "If-None-Match": '"other"'})
        self.assertSame(answer, 200, origin.body)
        self.assertEqual(self.since(before)[0], 1)

    def test_a_change_behind_the_cache_is_seen_at_once(self):
        origin, before = self.origin()
        client = self.client()
        self.assertSame(self.kept(client, self.target), 200, origin.body)
        rails.change(self.number, name="Changed in the database")
        changed = self.kept(client, self.target, {"If-None-Match": origin["ETag"]})
        self.assertSame(changed, 200, why="revalidated_changed")
        self.assertEqual(json.loads(changed.body)["products"][0]["name"], "Changed in the database")
        self.assertNotEqual(changed["ETag"], origin["ETag"])
        for _ in range(5):
            self.assertSame(client.get(self.target), 200, changed.body, "revalidated")
        self.assertSame(client.get(self.target, {"If-None-Match": changed["ETag"]}), 304, b"")
        self.assertEqual(self.since(before)[0], 2)
        self.assertEqual(self.origin()[0].body, changed.body)

    def test_a_change_through_the_cache_is_seen_at_once(self):
        origin, _ = self.origin()
        client = self.client()
        self.assertSame(self.kept(client, self.target), 200, origin.body)
        body = json.dumps({"price_cents": 4711}).encode()
        written = client.ask("PUT", f"/api/products/{(self.number - 1) * 100 + 1}",
                             {"Content-Type": "application/json"}, body)
        self.assertEqual((written.status, json.loads(written.body)["price_cents"]), (200, 4711))
        changed = client.get(self.target)
        self.assertSame(changed, 200, self.origin()[0].body, "revalidated_changed")
        self.assertEqual(json.loads(changed.body)["products"][0]["price_cents"], 4711)

    def test_a_crowd_renders_once(self):
        origin, before = self.origin()

        def crowd(_):
            with Counted(self.etagere.address) as client:
                return client.get(self.target)
        for answer in many(16, crowd):
            self.assertSame(answer, 200, origin.body)
        # Whoever comes after the leader's answer and before memcached has it makes Rails render once more.
        self.assertLessEqual(self.since(before)[0], 3 if self.STORE == MEMCACHED else 1)
        self.assertSame(self.client().get(self.target), 200, origin.body)
        before = rails.counters()
        for answer in many(16, crowd):
            self.assertSame(answer, 200, origin.body)
        renders, requests = self.since(before)
        self.assertEqual(renders, 0)
        self.assertLess(requests, 16, "nothing was shared")

    def test_what_belongs_to_one_answer_is_not_replayed(self):
        origin, _ = self.origin()
        client = self.client()
        first = self.kept(client, self.target)
        second, third = (client.get(self.target) for _ in range(2))
        for name in ("X-Request-Id", "X-Runtime"):
            self.assertIn(name, first.fields)
            for answer in (second, third):
                self.assertNotEqual(answer[name], first[name])
        for answer in (second, third):
            self.assertEqual((answer["Vary"], answer["Content-Type"], answer["Last-Modified"], answer["Cache-Control"]),
                             (origin["Vary"], origin["Content-Type"], origin["Last-Modified"], origin["Cache-Control"]))
            self.assertEqual((answer["Content-Length"], "Date" in answer.fields, "Age" in answer.fields),
                             (str(len(origin.body)), True, True))

    def test_the_defaults_of_rails_are_left_alone_and_the_log_says_what_to_write(self):
        target = f"/defaults/products?page={self.number}"
        origin, before = self.origin(target)
        client = self.client()
        for _ in range(3):
            self.assertSame(client.get(target), 200, origin.body)
        self.assertEqual(self.since(before), (3, 3))
        record = self.etagere.wait_log(msg="request", path="/defaults/products", query=f"page={self.number}")
        self.assertEqual(record["reason"], "nostore_private")
        self.assertIn("private: revalidate", json.dumps(record))

    def test_the_defaults_of_rails_still_give_304_to_whoever_has_the_page(self):
        target = f"/defaults/products?page={self.number}"
        origin, _ = self.origin(target)
        client = self.client()
        # Rack::ConditionalGet compares strings, so the last three get a 304 from étagère only.
        for form in (origin["ETag"], origin["ETag"][2:], f'"other", {origin["ETag"]}', origin["ETag"][1:-1]):
            with self.subTest(form):
                answer = client.get(target, {"If-None-Match": form})
                self.assertSame(answer, 304, b"")
                self.assertEqual(answer["ETag"], origin["ETag"])

    def test_private_pages_are_kept_for_each_credential_where_the_route_says_so(self):
        target = f"/mine/products?page={self.number}"
        bodies = {name: self.origin(target, {"Authorization": f"Bearer {name}"})[0].body for name in ("alice", "bob")}
        nobody, before = self.origin(target)
        client = self.client()
        for ask in [self.kept] + 9 * [Counted.get]:
            for name, body in bodies.items():
                answer = ask(client, target, hostname("kept.test", {"Authorization": f"Bearer {name}"}))
                self.assertSame(answer, 200, body)
                self.assertEqual(json.loads(answer.body)["customer"], name)
        renders, requests = self.since(before)
        self.assertEqual((renders, requests), (2, 20), "one rendering for each of the two, and always asked")
        self.assertNotEqual(nobody.body, bodies["alice"])
        self.assertSame(client.get(target, hostname("kept.test")), 200, nobody.body)

    def test_the_tag_of_the_defaults_costs_a_rendering_wherever_it_is_kept(self):
        # Rack::ETag reads the tag off the finished body. So such a route saves the bytes on the way from Rails, and what
        # saves the rendering is `stale?` in the controller (the test above).
        target = f"/defaults/products?page={self.number}"
        origin, before = self.origin(target, {"Authorization": "Bearer carol"})
        client = self.client()
        fields = hostname("kept.test", {"Authorization": "Bearer carol"})
        self.assertSame(self.kept(client, target, fields), 200, origin.body, "miss_cold")
        for _ in range(3):
            self.assertSame(client.get(target, fields), 200, origin.body, "revalidated")
        self.assertSame(client.get(target, {**fields, "If-None-Match": origin["ETag"][1:-1]}), 304, b"")
        self.assertEqual(self.since(before), (5, 5))

    def test_cookies_are_credentials(self):
        target = f"/mine/products?page={self.number}"
        origin, before = self.origin(target)
        client = self.client()
        for ask in (self.kept, Counted.get, Counted.get):
            for cookie in ("session=a", "session=b"):
                self.assertSame(ask(client, target, hostname("kept.test", {"Cookie": cookie})), 200, origin.body)
        self.assertEqual(self.since(before), (2, 6))

    def test_private_pages_are_not_kept_without_such_a_route(self):
        target = f"/mine/products?page={self.number}"
        origin, before = self.origin(target, {"Authorization": "Bearer alice"})
        client = self.client()
        for _ in range(3):
            self.assertSame(client.get(target, {"Authorization": "Bearer alice"}), 200, origin.body)
        self.assertEqual(self.since(before), (3, 3))

    def test_errors_pass(self):
        client = self.client()
        self.assertEqual(client.get("/nowhere").status, 404)
        self.assertEqual(client.ask("PUT", "/api/products/20000", body=b"").status, 404)


class WithMemory(WhatEveryStoreDoes, RailsTest):
    STORE = MEMORY


class WithMemcached(WhatEveryStoreDoes, RailsTest):
    STORE = MEMCACHED

    def test_another_sidecar_shares_what_is_kept(self):
        origin, before = self.origin()
        self.assertSame(self.kept(self.client(), self.target), 200, origin.body, "miss_cold")
        other = self.start()
        self.addCleanup(other.stop)
        client = self.client(other)
        self.assertSame(client.get(self.target), 200, origin.body, "revalidated")
        self.assertSame(client.get(self.target, {"If-None-Match": origin["ETag"]}), 304, b"")
        self.assertEqual(self.since(before)[0], 1)

    def test_what_is_kept_outlives_the_sidecar(self):
        origin, before = self.origin()
        short = self.start()
        self.assertSame(self.kept(self.client(short), self.target, of=short), 200, origin.body, "miss_cold")
        short.stop()
        self.assertSame(self.client().get(self.target), 200, origin.body, "revalidated")
        self.assertEqual(self.since(before)[0], 1)


class WithBothTiers(WhatEveryStoreDoes, RailsTest):
    STORE = TIERS


class WhenMemcachedDies(RailsTest):
    CONFIG, STORE = CONFIG, MEMCACHED

    def test_answers_stay_right_and_the_cache_comes_back(self):
        origin, before = self.origin()
        client = self.client()
        for ask in [self.kept] + 4 * [Counted.get]:
            self.assertSame(ask(client, self.target), 200, origin.body)
        self.assertEqual(self.since(before)[0], 1)

        self.memcached.process.kill()               # no farewell: as the kernel does it when memory is short
        self.memcached.process.wait(10)
        for _ in range(20):
            self.assertSame(client.get(self.target), 200, origin.body)
        rails.change(self.number, name="Changed while memcached was dead")
        changed, _ = self.origin()
        for _ in range(5):
            self.assertSame(client.get(self.target), 200, changed.body)
            self.assertSame(client.get(self.target, {"If-None-Match": changed["ETag"]}), 304, b"")

        self.memcached.start()                      # empty, on the same port
        wait_until(lambda: client.get(self.target).why == "revalidated", "the cache to be used again", 30)
        before = rails.counters()
        for _ in range(10):
            self.assertSame(client.get(self.target), 200, changed.body)
        self.assertEqual(self.since(before)[0], 0)

    def test_a_memcached_that_was_never_there(self):
        origin, _ = self.origin()
        absent = Memcached()
        absent.stop()
        self.addCleanup(absent.directory.cleanup)
        alone = self.start(MEMCACHED=f"127.0.0.1:{absent.port}")
        self.addCleanup(alone.stop)
        client = self.client(alone)
        for _ in range(5):
            self.assertSame(client.get(self.target), 200, origin.body)
        self.assertSame(client.get(self.target, {"If-None-Match": origin["ETag"]}), 304, b"")


if __name__ == "__main__":
    unittest.main()
