"""Purging by URL, tag, prefix and route, hard and soft, and what a write purges (bug case B82, RFC 9875)."""

import json
import tempfile
import threading
import unittest

from harness import Client, SystemTest, request, response, run_cli, validating, wait_until

FRESH = {"Cache-Control": "max-age=600"}


def ask_purge(etagere, body, fields=(), method="POST"):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with Client(etagere.admin) as client:
        return client.ask(method, "/purge", {"Host": "localhost", **dict(fields)}, raw)


class PurgeTest(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 64MiB } }
routes:
  - { name: tenants, match: { path: "/tenants/**" }, upstream: app, cache: { key: { headers: [X-Tenant], query: { ignore: [utm] } } } }
  - { name: other, match: { path: "/other/**" }, upstream: app, cache: { tags: { add: [shelf] } } }
  - { name: open, match: { path: "/off/**" }, upstream: app, cache: off }
  - { name: writes, match: { path: "/writes/**", methods: [POST] }, upstream: app,
      purge_on_success: { tags: [made, two], routes: [other], prefixes: [/listing] } }
  - { name: soft-writes, match: { path: "/soft/**", methods: [POST] }, upstream: app, purge_on_success: { tags: [gentle], soft: true } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def purge(self, **what):
        got = ask_purge(self.etagere, what)
        self.assertEqual(got.status, 200, got.body)
        answer = json.loads(got.body)
        self.assertTrue(answer["published"])
        return answer["purged"]

    def stored(self, path, fields=(), ask=(), body=b"stored"):
        self.origin.on(path.partition("?")[0], response(200, {**FRESH, **dict(fields)}, body))
        self.fill(path, ask)
        return path

    def fill(self, path, ask=()):
        wait_until(lambda: self.get(path, ask).why == "hit_fresh", f"{path} to be kept")

    def asks(self, path, ask=()):
        """Whether a request for it reaches the origin, and what is said about that."""
        before = self.origin.hits(path.partition("?")[0])
        got = self.get(path, ask)
        self.assertEqual(got.status, 200)
        return got.why if self.origin.hits(path.partition("?")[0]) > before else None


class Purge(PurgeTest):
    def test_url_takes_every_variant_and_tenant(self):
        """B82"""
        path = "/tenants" + self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "Accept"},
                                                f"{e.request['Accept']} {e.request['X-Tenant']}".encode()))
        asks = [{"Accept": a, "X-Tenant": t} for a in ("text/a", "text/b", "text/c") for t in ("one", "two")]
        for ask in asks:
            self.fill(path, ask)
            self.fill(path + "?q=1", ask)
        self.assertEqual(self.purge(url=f"http://shop.test{path}"), 1)
        for ask in asks:
            with self.subTest(ask=ask):
                self.assertEqual(self.asks(path, ask), "miss_purged")
                self.assertIsNone(self.asks(path, ask), "and only once")
                self.assertIsNone(self.asks(path + "?q=1", ask), "another URL")

    def test_ways_to_write_a_url(self):
        path = self.path()
        for url, gone in ((f"http://shop.test{path}", True), (f"https://shop.test{path}", True), (f"HTTP://SHOP.test:80{path}", True),
                          (f"shop.test{path}", True), (path, True), (f"http://shop.test{path}#part", True),
                          (f"http://shop.test:8080{path}", False), (f"http://other.test{path}", False),
                          (f"http://shop.test{path}/", False), (f"http://shop.test{path}?q", False)):
            with self.subTest(url):
                self.stored(path)
                self.assertEqual(self.purge(url=url), 1)
                self.assertEqual(self.asks(path) is not None, gone)

    def test_parameters_that_do_not_count(self):
        path = self.stored("/tenants" + self.path() + "?id=1&utm=a")
        self.purge(url=f"http://shop.test{path.replace('utm=a', 'utm=b')}")
        self.assertEqual(self.asks(path), "miss_purged")

    def test_tags(self):
        for field, value, tag, gone in (
                ("Surrogate-Key", "a b c", "b", True), ("Surrogate-Key", "a\tb", "b", True), ("Surrogate-Key", "a b", "B", False),
                ("Surrogate-Key", "ab", "a", False), ("Surrogate-Key", "a, b", "a", True), ("Surrogate-Key", "a,b", "a,b", True),
                ("Cache-Groups", '"b", "c d"', "c d", True), ("Cache-Groups", '"b";x=1', "b", True),
                ("Cache-Groups", 'b, "c"', "c", False), ("Cache-Groups", '"b', "b", False), ("Cache-Groups", '("b")', "b", False),
                ("Other-Key", "b", "b", False)):
            with self.subTest(field, value=value, tag=tag):
                path = self.stored(self.path(), {field: value})
                self.assertEqual(self.purge(tag=tag), 1)
                self.assertEqual(self.asks(path) is not None, gone)

    def test_tags_of_the_route_and_several_at_once(self):
        ours, one, two, three = ("/other" + self.path(), *(self.path() for _ in range(3)))
        for path, key in ((ours, "x-0"), (one, "x-1"), (two, "x-2"), (three, "x-3")):
            self.stored(path, {"Surrogate-Key": key})
        self.assertEqual(self.purge(tags=["shelf", "x-1", "x-2"]), 3)
        self.assertEqual([self.asks(p) is not None for p in (ours, one, two, three)], [True, True, True, False])

    def test_prefix(self):
        base = self.path()
        paths = [base, base + "/a", base + "/ab?q=1", base + "x"]
        for prefix, gone in ((f"http://shop.test{base}/", (0, 1, 1, 0)), (base + "/ab", (0, 0, 1, 0)), (f"shop.test{base}", (1, 1, 1, 1)),
                             (f"http://other.test{base}", (0, 0, 0, 0)), ("/", (1, 1, 1, 1))):
            with self.subTest(prefix):
                for path in paths:
                    self.stored(path)
                self.assertEqual(self.purge(prefix=prefix), 1)
                self.assertEqual([int(self.asks(p) is not None) for p in paths], list(gone))

    def test_route(self):
        inside, outside = self.stored("/other" + self.path()), self.stored(self.path())
        self.assertEqual(self.purge(route="other"), 1)
        self.assertEqual((self.asks(inside), self.asks(outside)), ("miss_purged", None))
        self.assertEqual(self.purge(route="nobody"), 0)
        self.assertEqual(self.purge(url="http://shop.test/off/x"), 0, "nothing is kept there")

    def test_hard_asks_without_a_condition_and_soft_with_one(self):
        for soft in (False, True):
            with self.subTest(soft=soft):
                path = self.path()
                self.origin.on(path, validating('"v1"', b"body", {**FRESH, "Surrogate-Key": f"k{soft}"}))
                self.fill(path)
                self.purge(tag=f"k{soft}", soft=soft)
                got = self.get(path)
                self.assertEqual((got.status, got.body, got.why), (200, b"body", "revalidated" if soft else "miss_purged"))
                self.assertEqual(self.origin.asked(path), ["full", "conditional" if soft else "full"])
                self.assertEqual(self.get(path).why, "hit_fresh", "validated: good again")

    def test_hard_beats_soft(self):
        path = self.path()
        self.origin.on(path, validating('"v1"', b"body", {**FRESH, "Surrogate-Key": "both"}))
        self.fill(path)
        self.purge(tag="both")
        self.purge(tag="both", soft=True)
        self.assertEqual(self.get(path).why, "miss_purged")

    def test_stale_while_the_origin_fails(self):
        """Soft: stale, and no more than that. Hard: not even then."""
        for soft, window, status in ((True, "stale-if-error=60", 200), (True, "x", 502), (False, "stale-if-error=60", 502)):
            with self.subTest(soft=soft, window=window):
                path = self.stored(self.path(), {"Cache-Control": f"max-age=600, {window}", "Surrogate-Key": "err"})
                self.purge(tag="err", soft=soft)
                self.origin.on(path, lambda e: e.close())
                self.assertEqual(self.get(path).status, status)

    def test_stale_while_revalidating(self):
        path = self.stored(self.path(), {"Cache-Control": "max-age=600, stale-while-revalidate=60", "Surrogate-Key": "swr"})
        self.purge(tag="swr", soft=True)
        self.origin.on(path, response(200, FRESH, b"new"))
        got = self.get(path)
        self.assertEqual((got.body, got.why), (b"stored", "hit_stale_revalidating"))
        wait_until(lambda: self.get(path).body == b"new", "the refreshed answer")

    def test_a_fetch_that_began_before(self):
        """Its answer goes to who asked before the purge, to nobody else, and is not kept."""
        path, hold = self.path(), threading.Event()
        self.origin.on(path, lambda e: (e.wait(hold), e.answer(200, {**FRESH, "Surrogate-Key": "late"}, b"old")))
        first = self.client()
        first.send(request("GET", path))
        self.origin.wait_hits(path, 1)
        self.purge(tag="late")
        self.origin.on(path, response(200, FRESH, b"new"))
        after = self.client()
        after.send(request("GET", path))
        hold.set()
        self.assertEqual(first.read().body, b"old")
        self.assertEqual(after.read().body, b"new")
        self.assertEqual(self.get(path).body, b"new")

    def test_many_who_wait_ask_once_more_together(self):
        path, hold = self.path(), threading.Event()
        self.origin.on(path, lambda e: (e.wait(hold), e.answer(200, FRESH, b"old")))
        first = self.client()
        first.send(request("GET", path))
        self.origin.wait_hits(path, 1)
        self.purge(url=path)
        self.origin.on(path, response(200, FRESH, b"new"))
        waiting = [self.client() for _ in range(8)]
        for client in waiting:
            client.send(request("GET", path))
        hold.set()
        self.assertEqual([client.read().body for client in waiting], [b"new"] * 8)
        self.assertLessEqual(self.origin.hits(path), 3)

    def test_ten_thousand_tags(self):
        tags = [f"t{n}" for n in range(3000)]
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Surrogate-Key": " ".join(tags)}, b"x"))
        self.fill(path)
        self.purge(tag="t2999")
        self.assertEqual(self.asks(path), "miss_purged", "a tag beyond the bound")
        self.origin.on(path, response(200, {**FRESH, "Surrogate-Key": " ".join(f"t{n}" for n in range(10000))}, b"x"))
        self.assertIn(self.get(path).status, (200, 502), "a head of 60 KB may be refused; it must not hurt")
        self.assertEqual(self.get(self.stored(self.path())).status, 200)

    def test_a_variant_that_was_purged_is_not_offered(self):
        """RFC 9111 §4.3.3 lets a 304 name another variant; a purged one must not come back that way."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "Accept", "ETag": '"en"', "Surrogate-Key": "offered"}, b"purged"))
        self.fill(path, {"Accept": "text/en"})
        self.purge(tag="offered")
        self.origin.on(path, validating('"en"', b"new", {**FRESH, "Vary": "Accept"}))
        got = self.get(path, {"Accept": "text/fr"})
        self.assertEqual((got.body, self.origin.asked(path)[-1]), (b"new", "full"))

    def test_many_purges(self):
        path = self.stored(self.path())
        self.assertEqual(self.purge(tags=[f"n{n}" for n in range(1000)]), 1000)
        self.assertIsNone(self.asks(path))
        self.purge(url=path)
        self.assertIsNotNone(self.asks(path))

    def test_refused(self):
        for body in (b"", b"[]", b"{", b"{}", {"soft": True}, {"tag": 1}, {"tags": "a"}, {"tags": [1]}, {"url": ["a"]}, {"soft": 1, "tag": "a"},
                     {"key": "a"}, {"url": "ftp://a/b"}, {"url": ""}, {"url": "http:///b"}, {"url": "http://a b/"}, {"url": "/\u00e9"},
                     {"prefix": "/a?b"}, {"prefix": "/" + "a" * 1024}, {"tag": ""}, {"tag": "a\nb"}, {"tags": ["a"] * 1025}):
            with self.subTest(str(body)[:60]):
                got = ask_purge(self.etagere, body)
                self.assertEqual(got.status, 400)
                self.assertTrue(json.loads(got.body)["error"])
        self.assertEqual(ask_purge(self.etagere, {"tag": "a"}, method="GET").status, 405)
        self.assertEqual(ask_purge(self.etagere, {"tag": "a"}, {"Origin": "http://evil.test"}).status, 403)
        self.assertEqual(ask_purge(self.etagere, {"tag": "a" * 70000}).status, 413)

    def test_the_data_port_does_not_purge(self):
        path = self.stored(self.path())
        self.origin.on(path, response(405, (), b"no"))
        self.assertEqual(self.ask("PURGE", path).status, 405, "the origin's own answer")
        self.assertIsNone(self.asks(path))

    def test_told(self):
        before = self.etagere.metric("etagere_cache_purges_total", kind="tag", soft="true")
        self.purge(tags=["told-1", "told-2"], soft=True)
        self.assertEqual(self.etagere.metric("etagere_cache_purges_total", kind="tag", soft="true"), before + 2)
        line = self.etagere.wait_log(event="purged", tags="told-1 told-2")
        self.assertEqual((line["generations"], line["soft"], line["published"]), (2, "true", "true"))


class Command(PurgeTest):
    """`etagere purge`, and its exit codes."""

    def cli(self, *arguments, **more):
        host, port = self.etagere.admin
        return run_cli("purge", *arguments, "--admin", f"{host}:{port}", **more)

    def test_purges(self):
        for arguments, fields in ((("http://shop.test@P@",), {}), (("--tag", "cli"), {"Surrogate-Key": "cli"}), (("--prefix", "@P@"), {}),
                                  (("--tag", "cli", "--tag", "x", "--soft"), {"Surrogate-Key": "cli"})):
            with self.subTest(arguments):
                path = self.stored(self.path(), fields)
                code, out, _ = self.cli(*(a.replace("@P@", path) for a in arguments))
                self.assertEqual((code, json.loads(out)["published"]), (0, True))
                self.assertIsNotNone(self.asks(path))
        path = self.stored("/other" + self.path())
        self.assertEqual(self.cli("--route", "other")[0], 0)
        self.assertIsNotNone(self.asks(path))

    def test_exit_codes(self):
        self.assertEqual(self.cli("--route", "nobody")[0], 1, "nothing matched")
        code, _, err = self.cli("ftp://a/b")
        self.assertEqual(code, 1)
        self.assertIn("ftp", err)
        self.assertEqual(self.cli()[0], 2)
        self.assertEqual(run_cli("purge", "--tag", "a", "--admin", "127.0.0.1:1")[0], 4)


class Check(unittest.TestCase):
    def check(self, route):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write('version: 1\nlisten: ":8080"\nupstream: http://127.0.0.1:3000\nroutes:\n  - { name: all, match: {} }\n' + route)
            file.flush()
            return run_cli("check", file.name)[:2]

    def test_names_of_routes(self):
        code, out = self.check("  - { name: w, match: { path: /w, methods: [POST] }, purge_on_success: { routes: [al] } }\n")
        self.assertEqual(code, 3)
        self.assertIn('no route is called "al"', out)
        self.assertIn('did you mean "all"', out)

    def test_methods_that_change_nothing(self):
        for methods, warned in (("[GET]", True), ("[GET, OPTIONS]", True), ("[GET, POST]", False), ("[PURGE]", False)):
            code, out = self.check(f"  - {{ name: w, match: {{ path: /w, methods: {methods} }}, purge_on_success: {{ tags: [a] }} }}\n")
            self.assertEqual((code, "W018" in out), (0, warned), out)


class Token(PurgeTest):
    CONFIG = PurgeTest.CONFIG.replace("role: admin }", "role: admin, token: a-long-enough-token }")

    def test_token(self):
        self.assertEqual(ask_purge(self.etagere, {"tag": "a"}).status, 401)
        good = {"Authorization": "Bearer a-long-enough-token"}
        self.assertEqual(ask_purge(self.etagere, {"tag": "a"}, good).status, 200)
        self.assertEqual(ask_purge(self.etagere, {"tag": "a"}, {**good, "Host": "etagere:9901"}).status, 200,
                         "a container knows it by name; a web page does not know the token")
        host, port = self.etagere.admin
        admin = f"{host}:{port}"
        self.assertEqual(run_cli("purge", "--tag", "a", "--admin", admin)[0], 1)
        self.assertEqual(run_cli("purge", "--tag", "a", "--admin", admin, "--token", "a-long-enough-token")[0], 0)
        self.assertEqual(run_cli("purge", "--tag", "a", "--admin", admin, "-c", self.etagere.config)[0], 0)


class Writes(PurgeTest):
    """purge_on_success and RFC 9875."""

    def write(self, path, status=200, fields=(), method="POST", host="shop.test"):
        self.origin.on(path, response(status, fields, b"" if status == 204 else b"done"))
        return self.ask(method, path, {"Host": host}, b"x")

    def shelves(self):
        tagged = self.stored(self.path(), {"Surrogate-Key": "made"})
        return tagged, self.stored("/other" + self.path()), self.stored("/listing" + self.path()), self.stored(self.path())

    def test_a_success_purges(self):
        for status in (200, 201, 204, 303):
            with self.subTest(status):
                kept = self.shelves()
                self.assertEqual(self.write("/writes" + self.path(), status).why, "invalidated")
                self.assertEqual([self.asks(p) is not None for p in kept], [True, True, True, False])

    def test_a_failure_does_not(self):
        for status in (400, 404, 409, 500, 503):
            with self.subTest(status):
                kept = self.shelves()
                self.write("/writes" + self.path(), status)
                self.assertEqual([self.asks(p) is not None for p in kept], [False] * 4)

    def test_prefixes_are_of_the_same_host(self):
        path = self.stored("/listing" + self.path())
        self.write("/writes" + self.path(), host="other.test")
        self.assertIsNone(self.asks(path))

    def test_soft(self):
        path = self.path()
        self.origin.on(path, validating('"v1"', b"body", {**FRESH, "Surrogate-Key": "gentle"}))
        self.fill(path)
        self.write("/soft" + self.path())
        self.assertEqual(self.asks(path), "revalidated")

    def test_cache_group_invalidation(self):
        rows = (('"a"', 200, "POST", "shop.test", True), ('"x", "a";p=1', 204, "DELETE", "shop.test", True), ('"A"', 200, "POST", "shop.test", False),
                ("a", 200, "POST", "shop.test", False), ('"a", b', 200, "POST", "shop.test", False), ('"a"', 500, "POST", "shop.test", False),
                ('"a"', 200, "OPTIONS", "shop.test", False), ('"a"', 200, "POST", "other.test", False), ('"a"', 200, "POST", "shop.test:8080", False))
        for value, status, method, host, gone in rows:
            with self.subTest(value, status=status, method=method, host=host):
                path = self.stored(self.path(), {"Cache-Groups": '"z", "a"'})
                self.write(self.path(), status, {"Cache-Group-Invalidation": value}, method, host)
                self.assertEqual(self.asks(path) is not None, gone)

    def test_a_get_invalidates_no_group(self):
        path = self.stored(self.path(), {"Cache-Groups": '"a"'})
        self.stored(self.path(), {"Cache-Group-Invalidation": '"a"'})
        self.assertIsNone(self.asks(path))

    def test_groups_are_not_surrogate_keys(self):
        path = self.stored(self.path(), {"Surrogate-Key": "a"})
        self.write(self.path(), 200, {"Cache-Group-Invalidation": '"a"'})
        self.assertIsNone(self.asks(path))

    def test_32_groups_of_32_characters(self):
        """RFC 9875 wants no less to be supported."""
        groups = [f"{n:032}" for n in range(40)]
        path = self.stored(self.path(), {"Cache-Groups": ", ".join(f'"{g}"' for g in groups)})
        self.write(self.path(), 200, {"Cache-Group-Invalidation": f'"{groups[39]}"'})
        self.assertIsNotNone(self.asks(path))

    def test_a_write_takes_every_tenant(self):
        """RFC 9111 §4.4: the URL, not the key of the client that wrote."""
        path = "/tenants" + self.path()
        for tenant in ("one", "two"):
            self.stored(path, ask={"X-Tenant": tenant})
        self.origin.on(path, response(200, (), b"done"))
        self.ask("POST", path, {"X-Tenant": "one"}, b"x")
        self.origin.on(path, response(200, FRESH, b"new"))
        for tenant in ("one", "two", "three"):
            self.assertEqual(self.get(path, {"X-Tenant": tenant}).body, b"new")


if __name__ == "__main__":
    unittest.main()
