"""The validator layer: clients' tags in a validation (B31), tags mangled on the way (B24), canonical JSON, the audit."""

import threading
import unittest

from harness import SystemTest, past, response, validating, wait_until

STALE = {"Cache-Control": "max-age=0"}
FRESH = {"Cache-Control": "max-age=60"}
THEN = past(3600)

ROUTE = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 64MiB, max_object: 4MiB } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app, @MORE@ }
"""


def tags(request):
    """The members of If-None-Match as the origin got them: one line, or none."""
    found = request.fields.all("If-None-Match")
    if len(found) > 1:
        raise AssertionError(f"more than one If-None-Match: {found}")
    return found[0].split(", ") if found else []


def reads_lists(etag, body=b"", fields=(), not_modified=None):
    """A handler like net/http of Go or `stale?` of Rails: 304 where its tag is a member of the list."""
    def run(exchange):
        match = etag in tags(exchange.request)
        more = fields if not_modified is None or not match else not_modified
        exchange.answer(304 if match else 200, [("ETag", etag), *dict(more).items()], b"" if match else body)
    return run


class ClientTags(SystemTest):
    """B31, RFC 9111 §4.3.1, §4.3.4. Each case has a route of its own, for routes learn."""

    COUNT = 12
    CONFIG = ROUTE.replace("  - { name: all, match: { path: \"/**\" }, upstream: app, @MORE@ }\n", "".join(
        f'  - {{ name: r{n}, match: {{ host: "r{n}.test", path: "/**" }}, upstream: app }}\n' for n in range(COUNT)))
    hosts = iter(range(COUNT))

    def setUp(self):
        self.host, self.target = f"r{next(ClientTags.hosts)}.test", self.path()

    def fetch(self, fields=(), **more):
        return self.get(self.target, {"Host": self.host, **dict(fields)}, **more)

    def stored(self, first, *then):
        self.origin.on(self.target, [first, *(then or [first])])
        self.assertEqual(self.fetch().status, 200)

    def sent(self):
        """What the origin was sent last."""
        return tags(self.origin.seen(self.target)[-1])

    def test_the_tag_of_the_client_goes_along(self):
        self.stored(reads_lists('"v1"', b"body", STALE))
        for ask, sent in (('"c9"', ['"v1"', '"c9"']), ("*", ['"v1"']), ('"c9", *', ['"v1"']), ('W/"v1"', ['"v1"']),
                          ('c9, "c8", "c8"', ['"v1"', '"c8"'])):
            with self.subTest(ask):
                got = self.fetch({"If-None-Match": ask})
                self.assertEqual(self.sent(), sent)
                matches = ask in ("*", 'W/"v1"')
                self.assertEqual((got.status, got.body), (304, b"") if matches else (200, b"body"))
        self.assertEqual(self.origin.asked(self.target), ["full"] + ["conditional"] * 5)

    def test_the_304_for_it_is_passed_on_and_freshens_nothing(self):
        """The stored one is outdated then: the next request brings the new one, and conditional clients fill the cache."""
        self.stored(validating('"v1"', b"old", STALE),
                    reads_lists('"c9"', b"new", FRESH, {"Cache-Control": "max-age=7", "X-Own": "of the 304"}))
        got = self.fetch({"If-None-Match": '"c9"'})
        self.assertEqual((got.status, got.body, got["ETag"], got["Cache-Control"], got["X-Own"]),
                         (304, b"", '"c9"', "max-age=7", "of the 304"))
        self.assertEqual((got.cache.get("fwd"), got.cache.get("fwd-status"), "stored" in got.cache), ("stale", "304", False))
        self.assertEqual(self.sent(), ['"v1"', '"c9"'])
        got = self.fetch({"If-None-Match": '"c9"'})
        self.assertEqual((got.status, self.sent()), (304, []))
        got = self.fetch()
        self.assertEqual((got.body, got.why, self.origin.hits(self.target)), (b"new", "hit_fresh", 3))

    def test_the_304_of_an_origin_that_always_says_304(self):
        """B31 to the letter."""
        self.stored(validating('"v1"', b"old", STALE), response(304, {**STALE, "ETag": '"c9"'}),
                    validating('"c9"', b"new", STALE))
        self.assertEqual(self.fetch({"If-None-Match": '"c9"'}).status, 304)
        got = self.fetch({"If-None-Match": "*"})
        self.assertEqual(got.status, 304)
        self.assertEqual(self.fetch().body, b"new")

    def test_a_304_without_a_tag_for_several_is_nobodys(self):
        self.stored(validating('"v1"', b"old", STALE),
                    lambda e: e.answer(304, FRESH) if tags(e.request) else e.answer(200, {**FRESH, "ETag": '"v2"'}, b"new"))
        got = self.fetch({"If-None-Match": '"c9"'})
        self.assertEqual((got.status, got.body), (200, b"new"))
        self.assertEqual(self.origin.asked(self.target), ["full", "conditional", "full"])

    def test_a_304_without_a_tag_for_one_is_the_stored_ones(self):
        self.stored(validating('"v1"', b"old", STALE), response(304, FRESH))
        self.assertEqual((self.fetch().body, self.fetch().why), (b"old", "hit_fresh"))

    def test_an_origin_that_compares_strings_is_asked_with_lists_once(self):
        """rails-and-go §5: Rack::ConditionalGet."""
        self.stored(validating('"v1"', b"body", STALE))
        for _ in range(5):
            got = self.fetch({"If-None-Match": '"c9"'})
            self.assertEqual((got.status, got.body), (200, b"body"))
        seen = self.origin.seen(self.target)[1:]
        self.assertEqual([tags(r) for r in seen], [['"v1"', '"c9"']] + [['"v1"']] * 4)
        self.assertEqual(self.fetch({"If-None-Match": '"v1"'}).status, 304)

    def test_followers_of_a_304_for_one_client_ask_for_themselves(self):
        release, arrived = threading.Event(), threading.Event()

        def slow(exchange):
            arrived.set()
            exchange.wait(release)
            exchange.answer(304, {"ETag": '"c9"', **STALE})
        self.stored(validating('"v1"', b"old", STALE), slow, validating('"c9"', b"new", FRESH))
        results = []
        leader = threading.Thread(target=lambda: results.append(self.fetch({"If-None-Match": '"c9"'})))
        leader.start()
        self.assertTrue(arrived.wait(10))
        follower = threading.Thread(target=lambda: results.append(self.fetch()))
        follower.start()
        wait_until(lambda: self.etagere.metric("etagere_http_requests_in_flight", listener="ingress") >= 2, "both to wait")
        release.set()
        leader.join(10)
        follower.join(10)
        self.assertEqual(sorted((r.status, r.body) for r in results), [(200, b"new"), (304, b"")])


class OtherVariants(SystemTest):
    """RFC 9111 §4.3.1: the origin may select what is stored for another request."""

    def codings(self, plain='"v1"', zipped='"v1-gzip"'):
        """A page that is sent zipped to whoever reads that, and to both under its own tag."""
        path = self.path()

        def run(exchange):
            coded = "gzip" in (exchange.request["Accept-Encoding"] or "")
            etag = zipped if coded else plain
            match = etag in tags(exchange.request)
            exchange.answer(304 if match else 200,
                            [("ETag", etag), ("Vary", "Accept-Encoding"), ("Cache-Control", "max-age=60"),
                             *([("Content-Encoding", "gzip")] if coded else [])],
                            b"" if match else b"zipped" if coded else b"plain")
        self.origin.on(path, run)
        return path

    def test_a_304_selects_among_them(self):
        path = self.codings()
        for accepts, body in (("gzip", b"zipped"), ("br", b"plain")):
            self.assertEqual(self.get(path, {"Accept-Encoding": accepts}).body, body)
        for accepts, body, sent in (("gzip, br", b"zipped", ['"v1"', '"v1-gzip"']), ("zstd", b"plain", ['"v1"'])):
            got = self.get(path, {"Accept-Encoding": accepts})
            self.assertEqual((got.status, got.body, got.why), (200, body, "revalidated"))
            self.assertEqual(sorted(set(tags(self.origin.seen(path)[-1]))), sent)
            again = self.get(path, {"Accept-Encoding": accepts})
            self.assertEqual((again.body, again.why), (body, "hit_fresh"))
        self.assertEqual(self.origin.asked(path), ["full"] * 2 + ["conditional"] * 2)
        for accepts, body in (("gzip", b"zipped"), ("br", b"plain")):
            self.assertEqual(self.get(path, {"Accept-Encoding": accepts}).why, "hit_fresh")

    def test_the_clients_own_condition_is_answered_from_what_was_selected(self):
        path = self.codings()
        self.get(path, {"Accept-Encoding": "gzip"})
        got = self.get(path, {"Accept-Encoding": "gzip, br", "If-None-Match": '"v1-gzip"'})
        self.assertEqual((got.status, got["ETag"], tags(self.origin.seen(path)[-1])), (304, '"v1-gzip"', ['"v1-gzip"']))

    def test_coded_bytes_only_for_who_reads_them(self):
        """An origin that compresses and keeps its tag (Rack::Deflater)."""
        path = self.codings(zipped='"v1"')
        self.assertEqual(self.get(path, {"Accept-Encoding": "gzip"}).body, b"zipped")
        got = self.get(path, {"Accept-Encoding": "br"})
        self.assertEqual((got.body, got["Content-Encoding"]), (b"plain", None))

    def test_a_version_number_is_no_leave_to_send_somebody_elses_bytes(self):
        """ETag: "3" of every tenant, in every language: RFC 9110 §8.8.3 forbids it, and it is what many do."""
        for name in ("X-Tenant", "Accept-Language", "Accept"):
            with self.subTest(name):
                path = self.path()
                self.origin.on(path, lambda e, name=name: e.answer(
                    304 if '"3"' in tags(e.request) else 200, {**FRESH, "ETag": '"3"', "Vary": name},
                    b"" if '"3"' in tags(e.request) else e.request[name].encode()))
                for value in ("a", "b", "c"):
                    self.assertEqual(self.get(path, {name: value}).body, value.encode())
                self.assertEqual(self.origin.asked(path), ["full"] * 3)


MANGLED = ('"v1-gzip"', '"v1;gzip"', '"v1--gzip"', 'W/"v1-gzip"', '"v1-br"', '"v1-zstd"', '"v1-deflate"')


class Unrepaired(SystemTest):
    CONFIG = ROUTE.replace("@MORE@", "etag: { repair: [] }")

    def test_a_mangled_tag_is_another_tag(self):
        """B24, strict."""
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "ETag": '"v1"'}, b"body"))
        self.get(path)
        for tag in (*MANGLED, "v1", '/"v1'):
            self.assertEqual(self.get(path, {"If-None-Match": tag}).status, 200, tag)
        self.assertEqual(self.get(path, {"If-None-Match": 'W/"v1"'}).status, 304)
        self.assertEqual(self.origin.hits(path), 1)


class Repaired(SystemTest):
    CONFIG = ROUTE.replace("@MORE@", "etag: { repair: [quotes, weak_prefix, suffix] }")

    def test_from_clients(self):
        """B24, and the article's consumer, which loses the quotes."""
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "ETag": '"v1"'}, b"body"))
        self.get(path)
        for tag in (*MANGLED, "v1", '/"v1', "v1-gzip", '"other", "v1-gzip"'):
            got = self.get(path, {"If-None-Match": tag})
            self.assertEqual((got.status, got["ETag"]), (304, '"v1"'), tag)
        for tag in ('"v2-gzip"', '"v1-zip"', '"v1-gzip-gzip"', '"v1-gzipped"', '"-gzip"', '"v"', "v1-", '"v11-gzip"'):
            self.assertEqual(self.get(path, {"If-None-Match": tag}).status, 200, tag)
        self.assertEqual(self.origin.hits(path), 1)

    def test_not_where_another_variant_has_that_tag(self):
        """-br is Breton as well."""
        path = self.path()

        def page(exchange):
            breton = exchange.request["Accept-Language"] == "br"
            exchange.answer(200, {**FRESH, "ETag": '"page-br"' if breton else '"page"', "Vary": "Accept-Language"},
                            b"degemer mat" if breton else b"welcome")
        self.origin.on(path, page)
        for language, body in (("br", b"degemer mat"), ("en", b"welcome")):
            self.assertEqual(self.get(path, {"Accept-Language": language}).body, body)
        got = self.get(path, {"Accept-Language": "en", "If-None-Match": '"page-br"'})
        self.assertEqual((got.status, got.body), (200, b"welcome"))
        self.assertEqual(self.get(path, {"Accept-Language": "br", "If-None-Match": '"page-br"'}).status, 304)

    def mangling(self, origin_tag, mangle, body=b"body"):
        """An origin that reads lists, behind a hop that mangles what goes out and leaves alone what comes in."""
        def run(exchange):
            match = origin_tag in tags(exchange.request)
            exchange.answer(304 if match else 200, {"ETag": mangle if not match else origin_tag, **STALE},
                            b"" if match else body)
        return run

    def test_towards_an_origin_behind_a_mangling_hop(self):
        for own, mangled, sent in (('"v1"', 'W/"v1"', ['W/"v1"', '"v1"']), ('"v1"', '"v1-gzip"', ['"v1-gzip"', '"v1"']),
                                   ('W/"v1"', 'W/"v1--gzip"', ['W/"v1--gzip"', 'W/"v1"', '"v1"', '"v1--gzip"'])):
            with self.subTest(mangled):
                path = self.path()
                self.origin.on(path, self.mangling(own, mangled))
                self.assertEqual(self.get(path)["ETag"], mangled)
                for _ in range(3):
                    got = self.get(path)
                    self.assertEqual((got.status, got.body, got.why, got["ETag"]), (200, b"body", "revalidated", mangled))
                    self.assertEqual(tags(self.origin.seen(path)[-1]), sent)
                self.assertEqual(self.get(path, {"If-None-Match": mangled}).status, 304)

    def test_a_client_with_a_mangled_newer_tag(self):
        path = self.path()
        self.origin.on(path, [validating('"v1"', b"old", STALE), reads_lists('"v2"', b"new", FRESH)])
        self.get(path)
        got = self.get(path, {"If-None-Match": '"v2-gzip"'})
        self.assertEqual((got.status, got["ETag"]), (304, '"v2"'))
        self.assertEqual(tags(self.origin.seen(path)[-1]), ['"v1"', '"v2-gzip"', '"v2"'])

    def test_what_is_not_kept_is_repaired_on_the_way(self):
        path = self.path()
        self.origin.on(path, reads_lists('"v1"', b"body", {"Cache-Control": "private"}))
        self.get(path)
        got = self.get(path, {"If-None-Match": '"v1-gzip"'})
        self.assertEqual((got.status, tags(self.origin.seen(path)[-1])), (304, ['"v1-gzip"', '"v1"']))


class StringsOnly(SystemTest):
    """An origin that compares strings behind a hop that mangles: which form it knows is found out, and kept."""

    CONFIG = ROUTE.replace("@MORE@", "etag: { repair: [quotes, weak_prefix, suffix] }")

    def test_the_form_is_found(self):
        path = self.path()
        full = response(200, {"ETag": '"v1-gzip"', **STALE}, b"body")
        self.origin.on(path, lambda e: e.answer(304, {"ETag": '"v1"', **STALE}) if e.request["If-None-Match"] == '"v1"'
                       else e.send(full))
        for _ in range(7):
            self.assertEqual(self.get(path).body, b"body")
        self.assertEqual([tags(r) for r in self.origin.seen(path)],
                         [[], ['"v1-gzip"', '"v1"'], ['"v1-gzip"']] + [['"v1"']] * 4)


class IgnoredJson(SystemTest):
    CONFIG = ROUTE.replace("@MORE@", "etag: { json_ignore: [/meta/request_id, /generated_at] }")

    def answers(self, *bodies, kind="application/json", fields=()):
        path = self.path()
        self.origin.on(path, [response(200, {"Content-Type": kind, **STALE, **dict(fields)}, b) for b in bodies])
        return [self.get(path) for _ in bodies]

    def test_what_does_not_count_does_not_change_the_tag(self):
        first, second, third = self.answers(
            b'{"meta":{"request_id":"a","page":1},"generated_at":1,"items":[1,2]}',
            b'{ "items": [1, 2], "generated_at": 2, "meta": {"page": 1, "request_id": "b"} }',
            b'{"meta":{"request_id":"a","page":2},"generated_at":1,"items":[1,2]}')
        self.assertTrue(first["ETag"].startswith('W/"'))
        self.assertEqual(first["ETag"], second["ETag"])
        self.assertNotEqual(first["ETag"], third["ETag"])

    def test_a_client_that_has_it_gets_304(self):
        path = self.path()
        numbers = iter(range(100))
        self.origin.on(path, lambda e: e.answer(200, {"Content-Type": "application/vnd.shop+json", **STALE},
                                                b'{"generated_at":%d,"x":1}' % next(numbers)))
        etag = self.get(path)["ETag"]
        for _ in range(5):
            got = self.get(path, {"If-None-Match": etag})
            self.assertEqual((got.status, got["ETag"]), (304, etag))

    def test_what_is_stored_is_served_as_it_is(self):
        path = self.path()
        body = b'{"generated_at":1,"x":1}'
        self.origin.on(path, [response(200, {"Content-Type": "application/json", **FRESH}, body)])
        for _ in range(3):
            self.assertEqual(self.get(path).body, body)
        self.assertEqual(self.origin.hits(path), 1)

    def test_what_is_no_canonical_json_is_tagged_by_its_bytes(self):
        for bodies, kind, same in (((b'{"generated_at":1}x', b'{"generated_at":2}x'), "application/json", False),
                                   ((b'{"a":1,"a":2}', b'{"a":1, "a":2}'), "application/json", False),
                                   ((b'{"x":"\xff"}', b'{ "x":"\xff"}'), "application/json", False),
                                   ((b'{"generated_at":1}', b'{"generated_at":2}'), "text/plain", False),
                                   ((b'{"x":1e400}', b'{"x":1e401}'), "application/json", False),
                                   ((b'{"x":1}', b'{"x":1.0}'), "application/json", False),
                                   ((b"[1]", b"[ 1 ]"), "application/json", True)):
            with self.subTest(bodies):
                one, two = self.answers(*bodies, kind=kind)
                self.assertEqual(one["ETag"] == two["ETag"], same)
                self.assertIsNotNone(one["ETag"])

    def test_the_origins_own_tag_wins(self):
        one, two = self.answers(b'{"generated_at":1}', b'{"generated_at":2}', fields={"ETag": '"its own"'})
        self.assertEqual((one["ETag"], two["ETag"]), ('"its own"', '"its own"'))

    def test_coded_bodies_are_left_alone(self):
        one, two = self.answers(b"\x1f\x8b1", b"\x1f\x8b2", fields={"Content-Encoding": "gzip"})
        self.assertNotEqual(one["ETag"], two["ETag"])


class Dates(SystemTest):
    def test_if_modified_since_without_last_modified(self):
        """RFC 9111 §4.3.2: the stored Date stands in."""
        path = self.path()
        date = past(100)
        self.origin.on(path, response(200, {"Cache-Control": "max-age=600", "Date": date}, b"body"))
        self.get(path)
        for since, status in ((date, 304), (past(50), 304), (past(101), 200), (past(3000), 200), ("yesterday", 200)):
            self.assertEqual(self.get(path, {"If-Modified-Since": since}).status, status, since)
        self.assertEqual(self.get(path, {"If-Unmodified-Since": past(3000)}).status, 200)
        self.assertEqual(self.origin.hits(path), 1)


class Audit(SystemTest):
    CONFIG = ROUTE.replace("@MORE@", "etag: { audit: 100% }")

    def audited(self, result):
        return self.etagere.metric("etagere_etag_audit_total", route="all", result=result)

    def asks(self, handler, count=1, fields=()):
        """`count` validated hits of a path, each audited before the next."""
        path = self.path()
        self.origin.on(path, handler)
        self.get(path, fields)
        for _ in range(count):
            before = self.origin.hits(path)
            self.assertEqual(self.get(path, fields).status, 200)
            wait_until(lambda: self.origin.hits(path) >= before + 2, "the audit to be asked for")
        return path

    def counts(self):
        return {result: self.audited(result) for result in ("true", "wrong_304", "churn")}

    def wait_for(self, result, before, more=1):
        wait_until(lambda: self.audited(result) >= before[result] + more, f"{more} × {result}")

    def test_a_true_304(self):
        before = self.counts()
        path = self.asks(validating('"v1"', b"body", STALE))
        self.wait_for("true", before)
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "full"])
        self.assertEqual(self.audited("wrong_304"), before["wrong_304"])

    def test_a_wrong_304(self):
        """The same tag over other bytes: counted, told, and no longer served."""
        before = self.counts()
        full = iter(range(100))

        def lies(exchange):
            if tags(exchange.request):
                exchange.answer(304, {"ETag": '"always"', **STALE})
            else:
                exchange.answer(200, {"ETag": '"always"', **STALE}, b"body %d" % next(full))
        path = self.path()
        self.origin.on(path, lies)
        self.assertEqual(self.get(path + "?token=secret").body, b"body 0")
        self.assertEqual(self.get(path + "?token=secret").body, b"body 0")
        self.wait_for("wrong_304", before)
        event = self.etagere.wait_log(event="wrong_304")
        self.assertEqual((event["route"], len(event["stored_sha256"]), event["etag"]), ("all", 64, '"always"'))
        self.assertNotEqual(event["stored_sha256"], event["origin_sha256"])
        self.assertNotIn("secret", str(event))
        self.assertNotEqual(self.get(path + "?token=secret").body, b"body 0")
        self.wait_for("wrong_304", before, 2)

    def test_churn(self):
        before = self.counts()
        number = iter(range(100))
        path = self.asks(lambda e: e.answer(304, {**STALE, "ETag": tags(e.request)[0]}) if tags(e.request) else
                         e.answer(200, {**STALE, "ETag": f'"{next(number)}"'}, b"the same"), 2)
        self.wait_for("churn", before, 2)
        self.assertEqual(self.origin.hits(path), 5)

    def test_a_change_in_between_is_neither(self):
        before = self.counts()
        self.asks([validating('"v1"', b"old", STALE), validating('"v1"', b"old", STALE), validating('"v2"', b"new", STALE)])
        probe = self.asks(validating('"v1"', b"body", STALE))
        self.wait_for("true", before)
        self.assertEqual(self.counts(), {**before, "true": before["true"] + 1}, probe)

    def test_not_on_behalf_of_one_user(self):
        for fields in ({"Authorization": "Bearer x"}, {"Cookie": "session=1"}):
            with self.subTest(fields):
                path = self.path()
                self.origin.on(path, validating('"v1"', b"body", {"Cache-Control": "public, max-age=0"}))
                for _ in range(3):
                    self.get(path, fields)
                # One that is audited comes behind them: had they been, they would have been seen by now.
                before = self.counts()
                self.asks(validating('"v1"', b"body", STALE))
                self.wait_for("true", before)
                self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"])

    def test_the_client_does_not_wait_and_there_is_one_at_a_time(self):
        path, release = self.path(), threading.Event()
        self.addCleanup(release.set)
        state = {"full": 0}

        def slow(exchange):
            if tags(exchange.request):
                exchange.answer(304, {"ETag": '"v1"', **STALE})
                return
            state["full"] += 1
            if state["full"] > 1:
                exchange.wait(release)
            exchange.answer(200, {"ETag": '"v1"', **STALE}, b"body")
        before = self.counts()
        self.origin.on(path, slow)
        for _ in range(6):
            self.assertEqual(self.get(path).body, b"body")
        wait_until(lambda: state["full"] == 2, "the one audit")
        self.assertEqual(self.origin.asked(path).count("conditional"), 5)
        release.set()
        self.wait_for("true", before)


class AuditTakesNoConnection(SystemTest):
    """Where the origin has one connection and somebody uses it, nobody waits for an audit."""

    CONFIG = ROUTE.replace("@MORE@", "etag: { audit: 100% }").replace(
        'endpoints: ["@ORIGIN@"]', 'endpoints: ["@ORIGIN@"], pool: { max_connections: 1 }')

    def test_no_room(self):
        """The queue is not empty when the validation ends: who waits there comes first, and the audit does not happen."""
        path, other = self.path(), self.path()
        release, arrived = threading.Event(), threading.Event()

        def held(exchange):
            arrived.set()
            exchange.wait(release)
            exchange.answer(304, {"ETag": '"v1"', **STALE})
        self.origin.on(path, [validating('"v1"', b"body", STALE), held, validating('"v1"', b"body", STALE)])
        self.origin.on(other, response(200, {"Cache-Control": "no-store"}, b"other"))
        self.get(path)
        threads = [threading.Thread(target=self.get, args=(target,)) for target in (path, other, other + "?2")]
        threads[0].start()
        self.assertTrue(arrived.wait(10))
        for thread in threads[1:]:
            thread.start()
        wait_until(lambda: self.etagere.metric("etagere_upstream_queue_depth", upstream="app") == 2, "both to wait")
        release.set()
        for thread in threads:
            thread.join(10)
        self.assertEqual(self.origin.asked(path), ["full", "conditional"])
        self.get(path)                              # and now there is room
        wait_until(lambda: self.etagere.metric("etagere_etag_audit_total", result="true") == 1, "the audit")
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional", "full"])


if __name__ == "__main__":
    unittest.main()
