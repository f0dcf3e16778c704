#!/usr/bin/env python3
"""`etagere explain`, `etagere route`, GET /explain and GET /entry: what they say is what is done.

Each case asks first and sends the same request right afterwards; the reason that was foretold has to be the one in
Cache-Status and in the access log.
"""

import json
import re
import subprocess
import threading
import unittest
import urllib.parse

from harness import TIMEOUT, Client, Etagere, Memcached, SystemTest, past, response, run_cli, steps, validating, wait_until

FRESH = {"Cache-Control": "max-age=60", "ETag": '"v1"'}
STALE = {"Cache-Control": "max-age=60", "ETag": '"v1"', "Age": "100"}

NOT_MODIFIED = "the origin answers 304 Not Modified"
KEPT = "the origin answers in full and the answer may be kept"
AS_BEFORE = "the origin answers as it did last time"
CLIENT_304 = "the origin answers 304 to the client's own condition"
NO_ANSWER = "the origin does not answer"
ERROR = "the origin answers 500, 502, 503 or 504"
SUCCESS = "the origin answers with success"
LEADER = "the request for the same that is under way brings an answer for both"


def query(url, method="GET", fields=(), **more):
    pairs = [("url", url), ("method", method)] + [("header", f"{name}: {value}") for name, value in dict(fields).items()]
    return urllib.parse.urlencode(pairs + list(more.items()))


class Explaining(SystemTest):
    TOKEN = None

    def admin(self, target, method="GET", token=None):
        token = token or self.TOKEN
        fields = {"Host": "127.0.0.1", **({"Authorization": f"Bearer {token}"} if token else {})}
        with Client(self.etagere.admin) as client:
            return client.ask(method, target, fields)

    def explain(self, url, method="GET", fields=(), page="/explain", **more):
        fields = dict(fields)
        if url.startswith("/"):                   # the host that the clients of the tests name
            fields.setdefault("Host", "shop.test")
        got = self.admin(f"{page}?{query(url, method, fields, **more)}")
        self.assertEqual(got.status, 200, got.body)
        return json.loads(got.body)

    def reason_of(self, got):
        return re.search(r"detail=(\w+)", got["Cache-Status"])[1]

    def foretold(self, told, when=None):
        """The reason that the request will end with, where the origin does `when`."""
        decision = told["decision"]
        if when is None:
            self.assertEqual(decision["then"], [])
            return decision["reason"]
        return next(outlook["reason"] for outlook in decision["then"] if outlook["when"] == when)

    def agrees(self, path, reason, when=None, method="GET", fields=(), body=None):
        """Explains, asks, compares. Returns the explanation and the answer."""
        told = self.explain(path, method, fields)
        self.assertEqual(self.foretold(told, when), reason)
        got = self.ask(method, path, fields, body)
        self.assertEqual(self.reason_of(got), reason)
        self.etagere.wait_log(msg="request", path=path, method=method, reason=reason)
        if "status" in told["decision"]:
            self.assertEqual(got.status, told["decision"]["status"])
        return told, got


class Reasons(Explaining):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
  gone: { endpoints: ["http://127.0.0.1:9"] }
routes:
  - { name: off, match: { path: "/off/**" }, upstream: app, cache: off }
  - { name: stream, match: { path: "/stream/**" }, upstream: app, stream: true }
  - { name: honour, match: { path: "/honour/**" }, upstream: app, cache: { client_directives: honour } }
  - { name: unreachable, match: { path: "/unreachable/**" }, upstream: gone }
  - name: stale
    match: { path: "/stale/**" }
    upstream: app
    cache: { stale: { while_revalidate: 1h, if_error: 1d } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def stored(self, prefix="", fields=FRESH):
        """A path with that answer in the store."""
        path = prefix + self.path()
        self.origin.on(path, response(200, fields, b"body"))
        self.get(path)
        return path

    def test_from_the_store(self):
        path = self.stored()
        told, _ = self.agrees(path, "hit_fresh")
        self.assertEqual((told["decision"]["action"], told["decision"]["section"]), ("serve", "RFC 9111 §4.2"))
        self.agrees(path, "hit_fresh", method="HEAD")
        self.agrees(path, "hit_not_modified", fields={"If-None-Match": '"v1"'})
        self.agrees(path, "hit_precondition_failed", fields={"If-Match": '"other"'})

    def test_stale_from_the_store(self):
        self.agrees(self.stored("/stale", STALE), "hit_stale_revalidating")
        path = self.stored(fields={**STALE, "Cache-Control": "max-age=60, stale-if-error=3600"})
        self.origin.on(path, response(503, (), b"down"))
        self.agrees(path, "hit_stale_error", ERROR)
        self.origin.on(path, steps("reset"))
        self.agrees(path, "hit_stale_error", NO_ANSWER)

    def test_validations(self):
        path = self.stored(fields=STALE)
        self.origin.on(path, response(304, STALE))
        told, _ = self.agrees(path, "revalidated", NOT_MODIFIED, fields={"If-None-Match": '"mine"'})
        self.assertEqual(told["decision"]["conditions"], {"If-None-Match": '"v1", "mine"'})
        self.assertEqual(self.origin.seen(path)[-1]["If-None-Match"], '"v1", "mine"')
        self.origin.on(path, response(200, {**FRESH, "ETag": '"v2"'}, b"new"))
        self.agrees(path, "revalidated_changed", KEPT)

    def test_misses(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"body"))
        told, _ = self.agrees(path, "miss_cold", KEPT)
        self.assertEqual(told["stored"]["variants"], [])
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Vary": "Accept"}, b"body"))
        self.get(path, {"Accept": "text/plain"})
        told, _ = self.agrees(path, "miss_vary", KEPT, fields={"Accept": "text/html"})
        self.assertEqual(told["stored"]["variants"][0]["selecting"], {"accept": "text/plain"})
        self.assertFalse(told["stored"]["variants"][0]["selected"])

    def test_not_kept(self):
        """The key remembers why; the next explanation says so."""
        cases = {"nostore_no_store": {"Cache-Control": "no-store"}, "nostore_private": {"Cache-Control": "private, max-age=60"},
                 "nostore_set_cookie": {**FRESH, "Set-Cookie": "a=b"}, "nostore_vary_star": {**FRESH, "Vary": "*"},
                 "nostore_no_lifetime_no_validator": {}, "pass_stream": {**FRESH, "Content-Type": "text/event-stream"},
                 "nostore_sendfile": {**FRESH, "X-Sendfile": "/a"}}
        for reason, fields in cases.items():
            with self.subTest(reason):
                path = self.path()
                self.origin.on(path, response(200, fields, b"body"))
                self.assertEqual(self.reason_of(self.get(path)), reason)
                told, _ = self.agrees(path, reason, AS_BEFORE)
                self.assertEqual(told["not_kept"]["reason"], reason)
                self.assertTrue(told["not_kept"]["remedy"])
                self.assertLessEqual(told["not_kept"]["remembered_for_ms"], 10_000)
        path = self.path()
        self.origin.on(path, response(418, (), b"teapot"))
        self.get(path)
        self.agrees(path, "nostore_status", AS_BEFORE)

    def test_not_kept_for_who_asked(self):
        for reason, fields in (("nostore_authorization", {"Authorization": "Bearer x"}), ("nostore_cookie", {"Cookie": "a=b"})):
            with self.subTest(reason):
                path = self.path()
                self.origin.on(path, response(200, FRESH, b"body"))
                self.get(path, fields)
                self.agrees(path, reason, AS_BEFORE, fields=fields)

    def test_the_clients_own_condition(self):
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "no-store", "ETag": '"v1"'}, b"body"))
        self.get(path)
        self.origin.on(path, response(304, {"Cache-Control": "no-store", "ETag": '"v1"'}))
        told, got = self.agrees(path, "nostore_hit_for_miss", CLIENT_304, fields={"If-None-Match": '"v1"'})
        self.assertEqual((told["decision"]["conditions"], got.status), ({"If-None-Match": '"v1"'}, 304))

    def test_past_the_cache(self):
        for reason, path, fields in (("pass_route_off", "/off/x", ()), ("pass_stream", "/stream/x", ()),
                                     ("pass_client_directive", "/honour/x", {"Cache-Control": "no-store"})):
            with self.subTest(reason):
                self.origin.on(path, response(200, FRESH, b"body"))
                told, _ = self.agrees(path, reason, fields=fields)
                self.assertEqual(told["key"], [], "no store is asked")

    def test_writes(self):
        path = self.stored()
        self.origin.on(path, response(200, (), b"done"))
        self.agrees(path, "invalidated", SUCCESS, method="POST", body=b"x")
        self.assertEqual(self.explain(path)["stored"]["variants"], [])
        self.origin.on("/off/write", response(200, (), b"done"))
        self.agrees("/off/write", "pass_method", method="POST", body=b"x")

    def test_refusals(self):
        told = self.explain("/honour/nothing", fields={"Cache-Control": "only-if-cached"})
        self.assertEqual((told["decision"]["action"], told["decision"]["status"]), ("refuse", 504))
        self.agrees("/honour/nothing", "only_if_cached", fields={"Cache-Control": "only-if-cached"})
        self.agrees("/unreachable/x", "failed", NO_ANSWER)
        for method, url, fields, status in (("TRACE", "/x", (), 405), ("GET", "/a b", (), 400),
                                            ("GET", "/x", {"Host": "a b"}, 400), ("GET", "/" + "x" * 9000, (), 414)):
            with self.subTest(method + url[:10]):
                if len(url) > 8000:        # the admin listener has the same bound
                    self.assertEqual(self.admin("/explain?" + query(url)).status, 414)
                    continue
                told = self.explain(url, method, fields)
                self.assertEqual((told["decision"]["reason"], told["decision"]["status"]), ("refused", status))

    def test_who_comes_during_a_fetch(self):
        path, go = self.path(), threading.Event()
        self.origin.on(path, steps(go, response(200, FRESH, b"body")))
        first = threading.Thread(target=self.get, args=(path,))
        first.start()
        wait_until(lambda: self.origin.seen(path), "the leader to reach the origin")
        told = self.explain(path)
        self.assertTrue(told["in_flight"])
        self.assertEqual(self.foretold(told, LEADER), "collapsed_local")
        got = []
        second = threading.Thread(target=lambda: got.append(self.get(path)))
        second.start()
        self.assertEqual(len(self.origin.seen(path)), 1, "explain joined nothing and sent nothing")
        go.set()
        first.join(TIMEOUT)
        second.join(TIMEOUT)
        self.assertIn(self.reason_of(got[0]), ("collapsed_local", "hit_fresh"))

    # ------------------------------------------------------------ what it says besides

    def test_it_sends_nothing_and_changes_nothing(self):
        path = self.path()
        before = self.origin.seen(path), self.etagere.metric("etagere_store_operations_total")
        for _ in range(3):
            self.explain(path)
            self.explain(path, "POST")
            self.explain(path, page="/entry")
        self.assertEqual((self.origin.seen(path), self.etagere.metric("etagere_store_operations_total")), before)

    def test_lifetimes_and_their_sources(self):
        path = self.stored(fields={"Cache-Control": "s-maxage=30, max-age=60", "ETag": '"v1"', "Age": "10"})
        variant = self.explain(path)["stored"]["variants"][0]
        self.assertEqual((variant["lifetime_s"], variant["lifetime_from"]), (30, "s-maxage of Cache-Control"))
        self.assertIn(variant["age_s"], (10, 11))
        self.assertEqual(variant["ttl_s"], 30 - variant["age_s"])
        self.assertEqual([phase["action"] for phase in variant["phases"]], ["serve", "validate", "fetch"])
        self.assertEqual(variant["fields"]["ETag"], '"v1"')

    def test_entry(self):
        path = self.stored(fields={**FRESH, "Vary": "Accept-Language", "Last-Modified": past(3600)})
        told = self.explain(path, page="/entry")
        self.assertNotIn("decision", told)
        variant, = told["stored"]["variants"]
        self.assertEqual((told["stored"]["level"], variant["body_bytes"], variant["body_in_memory"]), ("memory", 4, True))
        self.assertRegex(variant["digest"], "^xxh3-128:[0-9a-f]{32}$")
        self.assertEqual(variant["selecting"], {"accept-language": "(absent)"})

    def test_routes_and_key(self):
        told = self.explain("/stale/x?b=2&a=1")
        self.assertEqual(told["route"], {"name": "stale", "upstream": "app", "store": "default"})
        verdicts = {c["name"]: c["verdict"] for c in told["considered"]}
        self.assertEqual((verdicts["stale"], verdicts["off"], verdicts["all"]), ("chosen", "path", "less_specific"))
        parts = {part["part"]: part["values"] for part in told["key"]}
        self.assertEqual((parts["route"], parts["target"]), (["stale"], ["/stale/x?b=2&a=1"]))
        self.assertIn("1h while it is refreshed", told["policy"]["stale"])

    def test_equal_queries(self):
        """No-Vary-Search: the answer to another query is the one that counts."""
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "No-Vary-Search": 'params=("utm")'}, b"body"))
        self.get(path + "?utm=1&a=2")
        told = self.explain(path + "?a=2&utm=3")
        self.assertEqual((told["decision"]["reason"], told["no_vary_search"]), ("hit_fresh", 'params=("utm")'))
        self.assertEqual(self.reason_of(self.get(path + "?a=2&utm=3")), "hit_fresh")
        self.assertEqual(self.explain(path + "?a=3")["decision"]["reason"], "miss_cold")
        self.assertEqual(len(self.origin.seen(path)), 1)

    def test_curl_is_the_same_request(self):
        path = self.stored(fields={**FRESH, "Vary": "X-Odd"})
        odd = {"X-Odd": "it's $HOME `id` \"q\""}
        command = self.explain(path + "?a=[1]&b={2,3}", fields=odd)["curl"]
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=TIMEOUT, check=True)
        self.assertTrue(done.stdout.startswith("HTTP/1.1 200"), done)
        seen = self.origin.seen(path)[-1]
        self.assertEqual((seen.target, seen["X-Odd"]), (path + "?a=[1]&b={2,3}", odd["X-Odd"]))

    def test_questions_that_are_none(self):
        for target in ("/explain", "/explain?url=", "/explain?url=ftp://x/", "/explain?url=/&nonsense=1", "/explain?url=x",
                       "/explain?url=/&header=Name", "/explain?url=/&method=G%20T", "/explain?url=/&header=A:%20b%0d%0aC:%20d",
                       "/explain?url=/%0d%0aX:%20y", "/explain?url=/&role=admin"):
            with self.subTest(target):
                got = self.admin(target)
                self.assertEqual(got.status, 400, got.body)
                self.assertIn("error", json.loads(got.body))
        self.assertEqual(self.admin("/explain?url=/", "POST").status, 405)

    def test_secrets_are_not_shown(self):
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "Cache-Control": "public, max-age=60", "Vary": "Cookie, Authorization"}, b"b"))
        secrets = {"Authorization": "Bearer hidden-1", "Cookie": "sid=hidden-2", "X-Api-Key": "hidden-3"}
        self.get(path, secrets)
        for page in ("/explain", "/entry"):
            for form in ("json", "text"):
                text = self.admin(f"{page}?{query(path, 'GET', secrets, format=form)}").body.decode()
                self.assertNotIn("hidden", text)
        self.assertIn('"$AUTHORIZATION"', self.explain(path, fields=secrets)["curl"])

    # ------------------------------------------------------------ the commands

    def cli(self, *arguments, **more):
        host, port = self.etagere.admin
        return run_cli("explain", *arguments, "--admin", f"{host}:{port}", **more)

    def test_explain_command(self):
        path = self.stored()
        host = ("-H", "Host: shop.test")
        code, text, problems = self.cli(path, *host, "-H", 'If-None-Match: "v1"')
        self.assertEqual((code, problems), (0, ""))
        self.assertIn("hit_not_modified (RFC 9111 §4.3.2)", text)
        self.assertNotIn("\x1b", text, "no colour in a pipe")
        self.assertLess(max(map(len, text.splitlines())), 250)
        code, text, _ = self.cli("http://shop.test" + path, "--json")
        self.assertEqual(json.loads(text)["decision"]["reason"], "hit_fresh")
        self.assertEqual(self.cli(path, "-X", "POST")[0], 0)
        self.assertEqual(self.cli("nonsense")[0], 2)
        self.assertEqual(self.cli(path, "-H", "nonsense")[0], 2)
        self.assertEqual(run_cli("explain", path, "--admin", "127.0.0.1:9")[0], 4)

    def test_route_command(self):
        def route(*arguments):
            return run_cli("route", *arguments, "-c", self.etagere.config)
        code, text, _ = route("GET", "http://api.test/stale/x")
        self.assertEqual(code, 0)
        for part in ("stale → upstream app, store default", "authority: api.test:80", "all: matches too", "policy"):
            self.assertIn(part, text)
        code, text, _ = route("GET", "/stale/x", "--json")
        self.assertEqual(json.loads(text)["route"]["name"], "stale")
        self.assertEqual(run_cli("route", "GET", "/x", "-c", "/dev/null")[0], 3)
        self.assertEqual(route("GET", "nonsense")[0], 2)
        only = self.CONFIG.replace('match: { path: "/**" }', 'match: { path: "/**", host: a.test }').replace("@ORIGIN@", "http://127.0.0.1:9")
        with open(self.etagere.config + ".only", "w", encoding="utf-8") as file:
            file.write(only)
        code, text, _ = run_cli("route", "GET", "/x", "-c", file.name)
        self.assertEqual(code, 1)
        self.assertIn('is for host "a.test"', text)

    def test_would_it_be_cached(self):
        def offline(*arguments, **more):
            code, text, problems = run_cli("explain", "/x", "-c", self.etagere.config, *arguments, **more)
            self.assertEqual(problems, "")
            return code, text
        code, text = offline("-R", "Cache-Control: max-age=60", "-R", 'ETag: "a"')
        self.assertEqual(code, 0)
        for part in ("would be kept, fresh for 1m: max-age of Cache-Control", "now: serve (hit_fresh)", "after 1m: validate (revalidated)"):
            self.assertIn(part, text)
        _, text = offline("-R", "Cache-Control: private, max-age=0")
        self.assertIn("would not be kept", text)
        self.assertIn("nostore_private (RFC 9111 §5.2.2.7)", text)
        self.assertIn("change", text)
        _, text = offline("--response", "-", stdin="HTTP/2 404\r\nCache-Control: no-store\r\n\r\nbody")
        self.assertIn("nostore_no_store", text)
        _, text = offline("--offline", "--json")
        self.assertNotIn("stored", json.loads(text))
        # And it is what happens.
        for fields in ({"Cache-Control": "max-age=60"}, {"Cache-Control": "no-store"}, {"Set-Cookie": "a=b", **FRESH}, {}, FRESH):
            path = self.path()
            self.origin.on(path, response(200, fields, b"body"))
            given = [part for name, value in fields.items() for part in ("-R", f"{name}: {value}")] or ["--status", "200"]
            answer = json.loads(offline(*given, "--json")[1])["answer"]
            got = self.get(path)
            self.assertEqual("; stored" in got["Cache-Status"], answer["kept"])
            self.assertEqual(self.reason_of(got), "miss_cold" if answer["kept"] else answer["reason"])


class WithToken(Explaining):
    TOKEN = "a-long-enough-token"
    CONFIG = SystemTest.CONFIG.replace("role: admin }", "role: admin, token: a-long-enough-token }")

    def test_needs_the_token(self):
        for target in ("/explain?url=/", "/entry?url=/"):
            self.assertEqual(self.admin(target, token="wrong").status, 401)
            self.assertEqual(self.admin(target).status, 200)
        host, port = self.etagere.admin
        where = ("--admin", f"{host}:{port}")
        self.assertEqual(run_cli("explain", "/", *where)[0], 1)
        self.assertEqual(run_cli("explain", "/", *where, "--token", self.TOKEN)[0], 0)
        self.assertEqual(run_cli("explain", "/", *where, env={"ETAGERE_ADMIN_TOKEN": self.TOKEN})[0], 0)


class WithMemcached(Explaining):
    """What another process kept is seen, and not taken over by looking."""
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 8MiB, local_ttl: 1h }, memcached: { servers: "@MEMCACHED@", timeout: 2s } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app, cache: { vary: { max_variants: 4 } } }
"""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.stop)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}"}

    def test_looks_into_memcached(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"body"))
        other = Etagere(self.CONFIG, values=self.etagere.values)
        try:
            host = {"Host": "shop.test"}
            with other.client() as client:
                client.ask("GET", path, host)
            wait_until(lambda: self.explain(path, fields=host)["stored"]["level"] == "memcached", "the record to be written")
            told = self.explain(path, fields=host)
            variant, = told["stored"]["variants"]
            self.assertEqual((told["stored"]["level"], variant["body_in_memory"]), ("memcached", False))
            self.assertTrue(variant["entity"])
            self.agrees(path, "hit_fresh", fields=host)
            self.assertEqual(len(self.origin.seen(path)), 1)
            self.assertEqual(self.explain(path, fields=host)["stored"]["level"], "memory", "the request took it over")
        finally:
            other.stop()


if __name__ == "__main__":
    unittest.main()
