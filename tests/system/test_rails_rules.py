"""What a sidecar in front of Rails has to do right: Rack::Cache is the model, Rack::ConditionalGet and Puma the traps."""

import unittest

from harness import Etagere, Origin, SystemTest, past, response, validating

THEN = past(3600)
PUBLIC = {"Cache-Control": "public"}
RAILS = {"Cache-Control": "max-age=0, private, must-revalidate", "Content-Type": "application/json"}


class KeepAndAskEveryTime(SystemTest):
    """`public` + ETag + Last-Modified without max-age: the article's core."""

    def page(self, etag='W/"0123456789abcdef"', **more):
        path = self.path()
        self.origin.on(path, validating(etag, b"[1,2,3]", {**PUBLIC, "Vary": "Accept"}, PUBLIC, last_modified=THEN, **more))
        return path

    def test_every_request_is_a_question_and_no_render(self):
        path = self.page()
        whys = [self.get(path).why for _ in range(4)]
        self.assertEqual(whys, ["miss_cold", "revalidated", "revalidated", "revalidated"])
        self.assertEqual(self.origin.asked(path), ["full"] + ["conditional"] * 3)

    def test_the_question_is_rails_own_validators_unchanged(self):
        """Rack compares strings; Rails wants both fields to match, or renders."""
        for ask in ({}, {"If-None-Match": 'W/"other"'}, {"If-None-Match": 'W/"0123456789abcdef", "x"'}, {"If-None-Match": "*"},
                    {"If-Modified-Since": past(0)}, {"If-None-Match": "0123456789abcdef", "If-Modified-Since": past(7200)}):
            with self.subTest(ask=ask):
                path = self.page()
                self.get(path)
                self.get(path, ask)
                asked = self.origin.seen(path)[1]
                self.assertEqual(asked.fields.all("If-None-Match"), ['W/"0123456789abcdef"'])
                self.assertEqual(asked.fields.all("If-Modified-Since"), [THEN])

    def test_a_304_of_ours_carries_the_tag(self):
        """app2 uses it as a key: otherwise it reads nil and sends one byte."""
        path = self.page()
        self.get(path)
        got = self.get(path, {"If-None-Match": 'W/"0123456789abcdef"'})
        self.assertEqual((got.status, got["ETag"], got["Vary"]), (304, 'W/"0123456789abcdef"', "Accept"))

    def test_mangled_conditions_still_get_their_304(self):
        """rails-and-go §3.1: `etag[1..-2]` loses the quotes."""
        for etag, sent in (('"abc"', "abc"), ('W/"abc"', '/"abc'), ('W/"abc"', "abc"), ('"abc"', '"abc", abc'),
                           ('W/"abc"', 'W/"abc"'), ('"abc"', '"x", /"abc')):
            for wrong in (False, True):
                with self.subTest(etag, sent=sent, wrong=wrong):
                    path = self.page(etag)
                    self.get(path)
                    got = self.get(path, {"If-None-Match": sent.replace("abc", "abd") if wrong else sent})
                    self.assertEqual((got.status, got["ETag"]), (200 if wrong else 304, etag))
                    self.assertEqual(got.body, b"[1,2,3]" if wrong else b"")

    def test_head_fills_the_cache(self):
        path = self.page()
        self.assertEqual(self.ask("HEAD", path).status, 200)
        self.assertEqual((self.get(path).body, self.origin.asked(path)), (b"[1,2,3]", ["full", "conditional"]))
        self.assertEqual({r.method for r in self.origin.seen(path)}, {"GET"})

    def test_vary_survives_the_304(self):
        path = self.page()
        for _ in range(3):
            self.assertEqual(self.get(path, {"Accept": "application/json"})["Vary"], "Accept")

    def test_date_length_and_age_are_there(self):
        """Puma sends chunked and no Date."""
        path = self.path()
        self.origin.on(path, [b"HTTP/1.1 200 OK\r\nCache-Control: public\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n"
                              b"3\r\nabc\r\n0\r\n\r\n", response(304, {"ETag": '"v1"', **PUBLIC})])
        self.get(path)
        got = self.get(path)
        self.assertEqual((got.body, got["Content-Length"], len(got.fields.all("Date"))), (b"abc", "3", 1))

    def test_no_guessed_lifetime(self):
        """10 % of Last-Modified's age would be 39 days for these rows."""
        path = self.path()
        self.origin.on(path, validating('"v1"', b"x", PUBLIC, PUBLIC, last_modified=past(390 * 86400)))
        self.get(path)
        self.assertEqual(self.get(path).why, "revalidated")


class PerAnswerFields(SystemTest):
    def test_not_replayed(self):
        for name in ("X-Request-Id", "X-Runtime", "Set-Cookie"):
            with self.subTest(name):
                path, number = self.path(), iter(range(100))
                self.origin.on(path, lambda e, n=name, i=number: e.answer(
                    200, {"Cache-Control": "public, max-age=60", n: f"a=answer-{next(i)}"}, b"x"))
                self.get(path)
                for _ in range(3):
                    got = self.get(path)
                    if name != "Set-Cookie":
                        self.assertEqual(got.why, "hit_fresh")
                    values = got.fields.all(name)
                    if got.why == "hit_fresh":
                        self.assertNotIn("a=answer-0", values)

    def test_answers_of_a_front_server_are_not_stored(self):
        """X-Sendfile and X-Accel-Redirect: the body is elsewhere; and neither they nor their switches pass."""
        for name in ("X-Accel-Redirect", "X-Sendfile", "X-Lighttpd-Send-File"):
            path = self.path()
            self.origin.on(path, response(200, {"Cache-Control": "public, max-age=60", name: "/secret/file"}, b""))
            for _ in range(2):
                self.get(path)
            self.assertEqual(self.origin.hits(path), 2)
        for name in ("X-Sendfile-Type", "X-Accel-Mapping"):
            path = self.path()
            self.origin.on(path, response(200, (), b"x"))
            self.get(path, {name: "X-Accel-Redirect"})
            self.assertNotIn(name, self.origin.seen(path)[0].fields)


class RailsDefaults(SystemTest):
    """`max-age=0, private, must-revalidate`, which every Rails answer says by default."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
routes:
  - { name: kept, match: { path: "/kept/**" }, upstream: app, cache: { private: revalidate } }
  - { name: left, match: { path: "/**" }, upstream: app }
"""

    def per_user(self, path):
        """An origin with a page for each user, and one tag for all of them: the worst case."""
        def handler(exchange):
            user = exchange.request["Authorization"] or exchange.request["Cookie"] or "nobody"
            validating('W/"same"', f"page of {user}".encode(), RAILS)(exchange)
        self.origin.on(path, handler)
        return path

    def test_left_alone_by_default(self):
        path = self.per_user(self.path())
        for user in ("a", "b"):
            for _ in range(2):
                got = self.get(path, {"Authorization": user})
                self.assertEqual((got.body, got.why in ("nostore_private", "nostore_authorization", "nostore_hit_for_miss")),
                                 (f"page of {user}".encode(), True))
        self.assertEqual(self.origin.asked(path), ["full"] * 4)

    def test_clients_own_validator_gets_its_304(self):
        """Rack::ETag alone: the render is not saved, the bytes are."""
        path = self.path()
        self.origin.on(path, response(200, {**RAILS, "ETag": 'W/"v1"'}, b"page"))
        self.assertEqual(self.get(path)["ETag"], 'W/"v1"')
        for sent in ('W/"v1"', '"v1"', 'W/"v0", W/"v1"', "v1"):
            with self.subTest(sent):
                got = self.get(path, {"If-None-Match": sent})
                self.assertEqual((got.status, got["ETag"]), (304, 'W/"v1"'))
        self.assertEqual(self.get(path, {"If-None-Match": 'W/"v2"'}).body, b"page")

    def test_clients_own_validator_reaches_rails(self):
        """Where nothing is kept, the client's validator is the only one that can save the render: alone, unchanged."""
        path = self.path()
        self.origin.on(path, validating('W/"v1"', b"page", RAILS))
        self.assertEqual(self.get(path, {"If-None-Match": 'W/"v1"'}).status, 304)
        self.assertEqual(self.get(path, {"If-None-Match": 'W/"v1"'}).status, 304)
        self.assertEqual(self.origin.seen(path)[1].fields.all("If-None-Match"), ['W/"v1"'])

    def test_kept_per_credential_on_request(self):
        """`private: revalidate`: always asked, never across users, and the render is saved."""
        path = self.per_user("/kept" + self.path())
        for credential in ({"Authorization": "a"}, {"Authorization": "b"}, {"Cookie": "sid=c"}, {}):
            for _ in range(3):
                body = f"page of {next(iter(credential.values()), 'nobody')}".encode()
                self.assertEqual(self.get(path, credential).body, body)
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"] * 4)

    def test_kept_answers_are_never_used_without_asking(self):
        path = "/kept" + self.path()
        self.origin.on(path, [validating('"v1"', b"old", {"Cache-Control": "private, max-age=600"}), response(500)])
        self.get(path, {"Authorization": "a"})
        self.assertEqual(self.get(path, {"Authorization": "a"}).status, 500)

    def test_reason_tells_what_to_write(self):
        path = self.path()
        self.origin.on(path, response(200, {**RAILS, "ETag": 'W/"v1"'}, b"page"))
        self.get(path)
        self.assertEqual(self.etagere.access(path)[0]["reason"], "nostore_private")


class Egress(unittest.TestCase):
    """On the way to somebody else's API, with one consumer: a private cache."""

    CONFIG = """
version: 1
listeners:
  out: { address: "127.0.0.1:0", role: egress }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  api: { endpoints: ["@ORIGIN@"] }
egress:
  - { name: api, match: { host: api.test }, upstream: api }
"""

    def test_private_answers_are_kept_and_revalidated(self):
        origin = Origin()
        self.addCleanup(origin.stop)
        etagere = Etagere(self.CONFIG, values={"ORIGIN": origin.url})
        try:
            origin.on("/x", validating('W/"v1"', b"page", RAILS))
            with etagere.client() as client:
                for _ in range(3):
                    self.assertEqual(client.ask("GET", "/x", {"Host": "api.test"}).body, b"page")
                self.assertEqual(client.ask("GET", "http://api.test/x").body, b"page")
                self.assertEqual(client.ask("GET", "/x", {"Host": "other.test"}).status, 404)
            self.assertEqual(origin.asked("/x"), ["full"] + ["conditional"] * 3)
        finally:
            etagere.stop()


if __name__ == "__main__":
    unittest.main()
