"""Ranges (RFC 9110 §14, RFC 9111 §3.3, §3.4): parts of what is stored, parts that are stored, wholes made of parts."""

import re
import threading
import unittest

from harness import Etagere, Memcached, SystemTest, many, past, request, response, wait_until

FRESH = {"Cache-Control": "max-age=60"}
BODY = b"".join(b"%04d" % number for number in range(250))       # 1000 octets, each four of them once


def tagged(etag='"v1"', **more):
    return {"ETag": etag, "Cache-Control": "max-age=60", "Content-Type": "text/plain", **more}


def stale(etag='"v1"', **more):
    return tagged(etag, Age="120", **more)


def byte_range(value, length):
    """(first, last) of a single range of `length` octets as an origin reads it; None for everything else."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", value or "")
    if not match or match[0] == "bytes=-":
        return None
    if not match[1]:
        return max(0, length - int(match[2])), length - 1
    return int(match[1]), min(int(match[2] or length), length - 1)


def ranging(body=BODY, fields=None, whole=None):
    """An origin that does ranges well: If-None-Match, then If-Range, then Range."""
    fields = tagged() if fields is None else fields

    def run(exchange):
        ask, etag = exchange.request, fields.get("ETag")
        if etag and ask["If-None-Match"] == etag:
            return exchange.answer(304, {**fields, "Age": "0"})
        wanted = byte_range(ask["Range"], len(body))
        if ask["If-Range"] and ask["If-Range"] not in (etag, fields.get("Last-Modified")):
            wanted = None
        if not wanted:
            return exchange.answer(200, whole or fields, body)
        first, last = wanted
        if first > last:
            return exchange.answer(416, {**FRESH, "Content-Range": f"bytes */{len(body)}"})
        return exchange.answer(206, {**fields, "Content-Range": f"bytes {first}-{last}/{len(body)}"},
                               body[first:last + 1])
    return run


def split_multipart(got):
    """[(Content-Range, Content-Type, octets)] of a multipart/byteranges answer, read by its own framing."""
    boundary = re.fullmatch(r"multipart/byteranges; boundary=([0-9A-Za-z]{1,70})", got["Content-Type"])[1].encode()
    pieces = (b"\r\n" + got.body.removeprefix(b"\r\n")).split(b"\r\n--" + boundary)
    assert pieces[0] == b"" and pieces[-1] == b"--\r\n", pieces
    parts = []
    for piece in pieces[1:-1]:
        head, _, octets = piece.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        parts.append((fields["Content-Range"], fields.get("Content-Type"), octets))
    return parts


class RangesTest(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"], pool: { max_connections: 64 } }
stores:
  default: { memory: { size: 64MiB, max_object: 1MiB } }
routes:
  - { name: strong, match: { path: "/strong/**" }, upstream: app, etag: { when_missing: strong } }
  - { name: impatient, match: { path: "/impatient/**" }, upstream: app, etag: { max_hold: 1ms, max_body: 10B } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def stored(self, fields=None, body=BODY, status=200, prefix=""):
        """A path whose answer is stored; whoever asks the origin again gets 'other'."""
        path = prefix + self.path()
        self.origin.on(path, [response(status, tagged() if fields is None else fields, body),
                              response(200, {"Cache-Control": "no-store"}, b"other")])
        self.assertEqual(self.get(path).body, body)
        return path

    def part(self, path, value, want, *, body=BODY, ask=(), hits=None):
        """`want`: (first, last). Asks for a range and checks every octet and number of the answer."""
        got = self.get(path, [("Range", value), *ask])
        first, last = want
        self.assertEqual((got.status, got["Content-Range"]), (206, f"bytes {first}-{last}/{len(body)}"), got)
        self.assertEqual(got.body, body[first:last + 1])
        if hits is not None:
            self.assertEqual(self.origin.hits(path), hits)
        return got

    def whole(self, path, body=BODY, ask=(), hits=None):
        got = self.get(path, ask)
        self.assertEqual((got.status, got.body, got["Content-Range"]), (200, body, None), got)
        if hits is not None:
            self.assertEqual(self.origin.hits(path), hits)
        return got


class FromTheWhole(RangesTest):
    """A complete stored response and a Range."""

    def test_single(self):
        path = self.stored()
        for value, want in (("bytes=0-1", (0, 1)), ("bytes=0-0", (0, 0)), ("bytes=999-999", (999, 999)), ("bytes=1-", (1, 999)),
                            ("bytes=0-", (0, 999)), ("bytes=-1", (999, 999)), ("bytes=-1000", (0, 999)), ("bytes=-5000", (0, 999)),
                            ("bytes=990-5000", (990, 999)), ("bytes=5-99999999999999999999999", (5, 999)),
                            ("bytes=-99999999999999999999999", (0, 999)), ("BYTES=2-3", (2, 3)), ("bytes= 2-3", (2, 3)),
                            ("bytes=2-3,", (2, 3)), ("bytes=,,2-3 ,", (2, 3)), ("bytes=2-3,5000-", (2, 3)),
                            ("bytes=0000-0003", (0, 3))):
            with self.subTest(value):
                got = self.part(path, value, want, hits=1)
                self.assertEqual((got.why, got["Content-Type"], got["ETag"]), ("hit_fresh", "text/plain", '"v1"'))
                self.assertEqual(len(got.fields.all("Content-Type")), 1)
        self.whole(path, hits=1)

    def test_ignored(self):
        """RFC 9110 §14.2: what need not be obeyed is as if it were not there."""
        path = self.stored()
        for value in ("bytes", "bytes=", "bytes=,", "bytes=a-b", "bytes=1", "bytes=--1", "bytes=-", "bytes=3-2", "bytes=0-1,3-2",
                      "bytes=0-1;2-3", "bytes 0-1", "bytes = 0-1", "octets=0-1", "items=0-1", "none", "", "bytes=0-1,x",
                      "bytes=0x0-0x1", "bytes=+0-1", "bytes=0 - 1", "bytes=0-1 2-3", "bytes=1-2-3"):
            with self.subTest(value):
                self.whole(path, ask={"Range": value}, hits=1)
        self.whole(path, ask=[("Range", "bytes=0-1"), ("Range", "bytes=0-1")], hits=1)

    def test_unsatisfiable(self):
        path = self.stored()
        for value in ("bytes=1000-", "bytes=1000-1001", "bytes=-0", "bytes=99999999999999999999999-", "bytes=2000-,3000-"):
            with self.subTest(value):
                got = self.get(path, {"Range": value})
                self.assertEqual((got.status, got["Content-Range"], got.body), (416, "bytes */1000", b""))
                self.assertEqual((got.why, got["Content-Type"]), ("hit_fresh", None))
        empty = self.stored(tagged('"e"'), b"")
        got = self.get(empty, {"Range": "bytes=0-"})
        self.assertEqual((got.status, got["Content-Range"]), (416, "bytes */0"))
        self.assertEqual(self.get(empty, {"Range": "bytes=-5"}).status, 200)
        self.assertEqual(self.origin.hits(path), 1)

    def test_several(self):
        path = self.stored()
        for value, want in (("bytes=0-9,200-209", ((0, 9), (200, 209))), ("bytes=500-509,0-9", ((500, 509), (0, 9))),
                            ("bytes=0-9,5000-,-10", ((0, 9), (990, 999))), ("bytes=0-9, 300-304 ,, 600-600", ((0, 9), (300, 304), (600, 600))),
                            ("bytes=400-409,0-9,405-419", ((400, 419), (0, 9)))):
            with self.subTest(value):
                got = self.get(path, {"Range": value})
                self.assertEqual((got.status, got["Content-Range"], got.why), (206, None, "hit_fresh"))
                self.assertEqual(split_multipart(got), [(f"bytes {a}-{b}/1000", "text/plain", BODY[a:b + 1]) for a, b in want])
                self.assertEqual(len(got.fields.all("Content-Type")), 1)
        self.assertEqual(self.origin.hits(path), 1)

    def test_several_that_are_one(self):
        """RFC 9110 §15.3.7.2: what overlaps, touches or nearly does is one part; one part is no multipart."""
        path = self.stored()
        for value, want in (("bytes=0-9,5-14", (0, 14)), ("bytes=0-9,10-19", (0, 19)), ("bytes=0-9,50-59", (0, 59)),
                            ("bytes=50-59,0-9", (0, 59)), ("bytes=0-9,0-9", (0, 9)), ("bytes=-5,990-", (990, 999))):
            with self.subTest(value):
                self.part(path, value, want, hits=1)

    def test_abuse(self):
        """CVE-2011-3192 and its kind: never more than the whole, never for long."""
        path = self.stored()
        for case, value in (("many", "bytes=" + ",".join(f"{i * 10}-{i * 10}" for i in range(100))),
                            ("the Apache killer", "bytes=0-," + ",".join(f"5-{i}" for i in range(5, 1300))),
                            ("overlaps", "bytes=0-999,1-999,2-999,3-999"), ("the same again and again", "bytes=" + ",".join(["0-"] * 8)),
                            ("more overhead than octets", "bytes=0-300,400-650,750-999")):
            with self.subTest(case):
                got = self.get(path, {"Range": value})
                self.assertEqual((got.status, got.body), (200, BODY))
        for count in range(2, 17):
            got = self.get(path, {"Range": "bytes=" + ",".join(f"{i * 60}-{i * 60}" for i in range(count))})
            self.assertLessEqual(len(got.body), len(BODY))

    def test_only_get_and_only_200(self):
        """RFC 9110 §14.2; bug case B76: a 404 goes out whole."""
        path = self.stored()
        got = self.ask("HEAD", path, {"Range": "bytes=0-3"})
        self.assertEqual((got.status, got["Content-Length"], got["Content-Range"]), (200, "1000", None))
        for status in (404, 410, 203, 301):
            with self.subTest(status):
                path = self.stored(FRESH, b"not what you asked for", status)
                got = self.get(path, {"Range": "bytes=0-3"})
                self.assertEqual((got.status, got.body), (status, b"not what you asked for"))
                self.assertEqual(self.origin.hits(path), 1)

    def test_if_range(self):
        """RFC 9110 §13.1.5: strong comparison, or exactly a date that is strong (§8.8.2.2)."""
        changed, date = past(86400), past(0)
        cases = (
            ({"ETag": '"v1"'}, '"v1"', True), ({"ETag": '"v1"'}, '"v2"', False), ({"ETag": '"v1"'}, 'W/"v1"', False),
            ({"ETag": 'W/"v1"'}, 'W/"v1"', False), ({"ETag": 'W/"v1"'}, '"v1"', False), ({"ETag": '"v1"'}, "v1", False),
            ({"ETag": '"v1"'}, '"v1", "v2"', False), ({"ETag": '"v1"'}, "*", False), ({"ETag": '"v1"'}, "", False),
            ({"Last-Modified": changed, "Date": date}, changed, True),
            ({"Last-Modified": changed, "Date": date}, past(86399), False),
            ({"Last-Modified": changed, "Date": date}, past(0), False),          # later is not the same
            ({"Last-Modified": past(2), "Date": date}, past(2), False),          # may have changed again in that second
            ({"Last-Modified": changed, "Date": date, "ETag": '"v1"'}, changed, True),
            ({"Last-Modified": changed, "Date": date}, '"v1"', False),
            ({"ETag": '"v1"'}, changed, False),
        )
        for fields, condition, holds in cases:
            with self.subTest(fields=fields, condition=condition):
                path = self.stored({**FRESH, **fields})
                ask = [("If-Range", condition)]
                if holds:
                    self.part(path, "bytes=0-3", (0, 3), ask=ask, hits=1)
                else:
                    self.whole(path, ask=[("Range", "bytes=0-3"), *ask], hits=1)
        path = self.stored()
        self.whole(path, ask=[("Range", "bytes=0-3"), ("If-Range", '"v1"'), ("If-Range", '"v1"')], hits=1)
        self.whole(path, ask={"If-Range": '"v1"'}, hits=1)
        self.assertEqual(self.get(path, {"Range": "bytes=5000-", "If-Range": '"v2"'}).status, 200)

    def test_our_own_tags(self):
        """A tag that étagère made: weak, it names no octets."""
        weak = self.stored(FRESH)
        tag = self.get(weak)["ETag"]
        self.assertTrue(tag.startswith("W/"), tag)
        for condition in (tag, tag.removeprefix("W/")):
            self.whole(weak, ask={"Range": "bytes=0-3", "If-Range": condition}, hits=1)
        self.part(weak, "bytes=0-3", (0, 3), hits=1)
        strong = self.stored(FRESH, prefix="/strong")
        tag = self.get(strong)["ETag"]
        self.assertFalse(tag.startswith("W/"), tag)
        self.part(strong, "bytes=0-3", (0, 3), ask=[("If-Range", tag)], hits=1)

    def test_conditions_come_first(self):
        """RFC 9110 §13.2.2"""
        path = self.stored()
        for ask, status in (({"If-None-Match": '"v1"'}, 304), ({"If-None-Match": "*"}, 304), ({"If-Match": '"v2"'}, 412),
                            ({"If-None-Match": '"v1"', "If-Range": '"v2"'}, 304)):
            for value in ("bytes=0-3", "bytes=5000-", "bytes=0-1,500-501"):
                with self.subTest(ask, value=value):
                    self.assertEqual(self.get(path, {"Range": value, **ask}).status, status)
        self.part(path, "bytes=0-3", (0, 3), ask=[("If-None-Match", '"v2"'), ("If-Match", '"v1"')], hits=1)

    def test_fields_of_a_206(self):
        """What speaks of the content as it was sent whole does not go with a part of it (RFC 9530 §2)."""
        path = self.stored(tagged(**{"Content-Digest": "sha-256=:AAAA:", "Content-MD5": "AAAA", "Repr-Digest": "sha-256=:BBBB:",
                                     "Content-Language": "de", "X-A": "b", "Vary": "Accept"}))
        for value in ("bytes=0-3", "bytes=0-3,900-903"):
            got = self.get(path, {"Range": value})
            self.assertEqual((got.status, got["Content-Digest"], got["Content-MD5"]), (206, None, None))
            self.assertEqual((got["Repr-Digest"], got["Content-Language"], got["X-A"], got["Vary"]),
                             ("sha-256=:BBBB:", "de", "b", "Accept"))
            self.assertEqual((got["Accept-Ranges"], len(got.fields.all("Via"))), ("bytes", 1))
            self.assertIsNotNone(got["Age"])

    def test_content_range_on_a_200(self):
        """It means nothing and is passed on; cut, it could not be told from ours."""
        path = self.stored(tagged(**{"Content-Range": "bytes 0-3/9"}))
        got = self.get(path, {"Range": "bytes=0-1"})
        self.assertEqual((got.status, got.body, got["Content-Range"]), (200, BODY, "bytes 0-3/9"))

    def test_accept_ranges(self):
        """RFC 9110 §14.3: on the first answer and on those from the store; the origin's own word stays."""
        path = self.path()
        self.origin.on(path, response(200, FRESH, BODY))
        self.assertEqual([self.get(path)["Accept-Ranges"] for _ in range(3)], ["bytes"] * 3)
        path = self.path()
        self.origin.on(path, response(200, tagged(**{"Accept-Ranges": "none"}), BODY))
        self.assertEqual([self.get(path)["Accept-Ranges"] for _ in range(2)], ["none"] * 2)
        for fields, status in (({"Cache-Control": "no-store"}, 200), (FRESH, 404)):
            self.origin.on(path := self.path(), response(status, fields, BODY))
            self.assertEqual([self.get(path)["Accept-Ranges"] for _ in range(2)], [None] * 2)

    def test_content_coding(self):
        """Offsets count in the representation that is sent: the coded one."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, tagged('"gz"', **{"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}), BODY)
                       if e.request["Accept-Encoding"] else e.answer(200, tagged('"id"', Vary="Accept-Encoding"), BODY[::-1]))
        for ask, body in (({"Accept-Encoding": "gzip"}, BODY), ({}, BODY[::-1])):
            self.get(path, ask)
            got = self.part(path, "bytes=4-9", (4, 9), body=body, ask=list(ask.items()))
            self.assertEqual(got["Content-Encoding"], "gzip" if ask else None)
        self.assertEqual(self.origin.hits(path), 2)

    def test_log_and_metrics(self):
        path = self.stored()
        self.part(path, "bytes=0-3", (0, 3))
        self.get(path, {"Range": "bytes=5000-"})
        lines = self.etagere.access(path, 3)
        self.assertEqual(sorted((line["status"], line["cache"], line["reason"]) for line in lines)[1:],
                         [(206, "hit", "hit_fresh"), (416, "hit", "hit_fresh")])
        self.assertGreater(self.etagere.metric("etagere_http_requests_total", code="4xx"), 0)


class AfterAsking(RangesTest):
    """A stale whole is validated, without the range, and then cut."""

    def test_not_modified(self):
        path = self.path()
        self.origin.on(path, ranging(fields=stale()))
        self.whole(path, hits=1)
        got = self.part(path, "bytes=10-19", (10, 19), hits=2)
        self.assertEqual((got.why, self.origin.seen(path)[-1]["Range"]), ("revalidated", None))
        self.assertEqual(self.origin.seen(path)[-1]["If-None-Match"], '"v1"')

    def test_changed(self):
        path = self.path()
        self.origin.on(path, [response(200, stale('"v0"'), b"old " * 100), response(200, tagged('"v1"'), BODY)])
        self.get(path)
        got = self.part(path, "bytes=10-19", (10, 19), hits=2)
        self.assertEqual((got.why, got["ETag"]), ("revalidated_changed", '"v1"'))
        self.whole(path, hits=2)

    def test_if_range_of_the_old_one(self):
        """The client has a part of what is not there any more: it gets the whole."""
        path = self.path()
        self.origin.on(path, [response(200, stale('"v0"'), b"old " * 100), response(200, tagged('"v1"'), BODY)])
        self.get(path)
        self.whole(path, ask={"Range": "bytes=10-19", "If-Range": '"v0"'}, hits=2)

    def test_stale_while_revalidating_and_on_error(self):
        path = self.path()
        self.origin.on(path, [response(200, stale(**{"Cache-Control": "max-age=60, stale-if-error=600"}), BODY), response(503)])
        self.get(path)
        self.assertEqual(self.part(path, "bytes=-4", (996, 999)).why, "hit_stale_error")
        path = self.path()
        self.origin.on(path, response(200, stale(**{"Cache-Control": "max-age=60, stale-while-revalidate=600"}), BODY))
        self.get(path)
        self.assertEqual(self.part(path, "bytes=-4", (996, 999)).why, "hit_stale_revalidating")


class OnAMiss(RangesTest):
    """Nothing is stored: the range goes to the origin."""

    def test_origin_answers_in_full(self):
        for value, want in (("bytes=0-3", (0, 3)), ("bytes=-3", (997, 999)), ("bytes=5-", (5, 999))):
            with self.subTest(value):
                path = self.path()
                self.origin.on(path, response(200, tagged(), BODY))
                got = self.part(path, value, want, hits=1)
                self.assertEqual((self.origin.seen(path)[0]["Range"], got.why, got.cache.get("stored")), (value, "miss_cold", True))
                self.whole(path, hits=1)
        path = self.path()
        self.origin.on(path, response(200, tagged(), BODY))
        got = self.get(path, {"Range": "bytes=0-3,900-903"})
        self.assertEqual([octets for _, _, octets in split_multipart(got)], [BODY[:4], BODY[900:904]])
        path = self.path()
        self.origin.on(path, response(200, tagged(), BODY))
        got = self.get(path, {"Range": "bytes=1000-"})
        self.assertEqual((got.status, got["Content-Range"], got.body), (416, "bytes */1000", b""))
        self.whole(path, hits=1)

    def test_in_full_and_streaming(self):
        """Too long to hold: it is cut while it passes, and stored whole."""
        body = BODY * 300
        for value, want in (("bytes=0-3", (0, 3)), ("bytes=-70000", (230000, 299999)), ("bytes=65530-65545", (65530, 65545)),
                            ("bytes=100-299998", (100, 299998))):
            with self.subTest(value):
                path = "/impatient" + self.path()
                self.origin.on(path, response(200, tagged(), body))
                self.part(path, value, want, body=body, hits=1)
                wait_until(lambda p=path: self.get(p).why == "hit_fresh", "the whole to be stored")
                self.whole(path, body)
        path = "/impatient" + self.path()
        self.origin.on(path, response(200, tagged(), body))
        self.assertEqual(self.get(path, {"Range": "bytes=300000-"}).status, 416)

    def test_in_full_but_not_for_the_store(self):
        """What is not kept goes through as it is."""
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "no-store", "ETag": '"v1"'}, BODY))
        self.whole(path, ask={"Range": "bytes=0-3"})

    def test_not_obeyed(self):
        """A Range that means the whole does not reach the origin, which might read it otherwise; the answer is kept."""
        for ask in ({"Range": "bytes=3-2"}, {"Range": "items=0-3"}, {"Range": "bytes=0-3", "If-Range": 'W/"v1"'},
                    {"Range": "bytes=" + ",".join(f"{i}-{i}" for i in range(100))}):
            with self.subTest(ask):
                path = self.path()
                self.origin.on(path, ranging())
                self.whole(path, ask=ask, hits=1)
                self.assertEqual((self.origin.seen(path)[0]["Range"], self.origin.seen(path)[0]["If-Range"]), (None, None))
                self.whole(path, hits=1)
        path = self.path()
        self.origin.on(path, ranging())
        self.assertEqual(self.ask("HEAD", path, {"Range": "bytes=0-3"})["Content-Length"], "1000")
        self.whole(path, hits=1)

    def test_if_range(self):
        path = self.path()
        self.origin.on(path, ranging())
        self.part(path, "bytes=0-3", (0, 3), ask=[("If-Range", '"v1"')], hits=1)
        path = self.path()
        self.origin.on(path, ranging())
        self.whole(path, ask={"Range": "bytes=0-3", "If-Range": '"v0"'})
        self.whole(path, ask={"Range": "bytes=0-3", "If-Range": '"v0"'}, hits=2)
        self.part(path, "bytes=0-3", (0, 3), hits=2)

    def test_conditions_come_first(self):
        path = self.path()
        self.origin.on(path, ranging())
        self.assertEqual(self.get(path, {"Range": "bytes=0-3", "If-None-Match": '"v1"'}).status, 304)
        self.assertEqual(self.get(path, {"Range": "bytes=0-3", "If-Match": '"v0"'}).status, 412)

    def test_416_of_the_origin(self):
        """It answers one request and no other."""
        path = self.path()
        self.origin.on(path, ranging())
        got = self.get(path, {"Range": "bytes=5000-"})
        self.assertEqual((got.status, got["Content-Range"]), (416, "bytes */1000"))
        self.whole(path)
        self.part(path, "bytes=0-3", (0, 3))

    def test_errors_and_their_ranges(self):
        path = self.path()
        self.origin.on(path, response(404, FRESH, b"not here"))
        for _ in range(2):
            got = self.get(path, {"Range": "bytes=0-3"})
            self.assertEqual((got.status, got.body), (404, b"not here"))
        self.assertEqual(self.origin.hits(path), 1)


class Parts(RangesTest):
    """206 that are kept, and what they answer."""

    def test_kept_and_reused(self):
        path = self.path()
        self.origin.on(path, ranging())
        got = self.part(path, "bytes=100-199", (100, 199), hits=1)
        self.assertEqual((got.why, got.cache.get("stored")), ("miss_cold", True))
        for value, want in (("bytes=100-199", (100, 199)), ("bytes=150-159", (150, 159)), ("bytes=199-199", (199, 199)), ("bytes=100-100", (100, 100))):
            self.assertEqual(self.part(path, value, want, hits=1).why, "hit_fresh")
        got = self.part(path, "bytes=150-200", (150, 200), hits=2)
        self.assertEqual((got.why, got.cache.get("fwd")), ("miss_partial", "partial"))
        self.part(path, "bytes=100-200", (100, 200), hits=2)

    def test_suffix_and_open_end(self):
        path = self.path()
        self.origin.on(path, ranging())
        self.part(path, "bytes=-100", (900, 999), hits=1)
        self.part(path, "bytes=950-", (950, 999), hits=1)
        self.part(path, "bytes=-10", (990, 999), hits=1)
        self.part(path, "bytes=900-909,980-989", (900, 989), hits=1)      # so close that they are one
        got = self.get(path, {"Range": "bytes=5000-"})
        self.assertEqual((got.status, self.origin.hits(path)), (416, 2))

    def test_several_from_parts(self):
        body = BODY * 10
        path = self.path()
        self.origin.on(path, ranging(body))
        self.part(path, "bytes=0-999", (0, 999), body=body)
        self.part(path, "bytes=5000-5999", (5000, 5999), body=body, hits=2)
        got = self.get(path, {"Range": "bytes=5000-5009,10-19"})
        self.assertEqual(split_multipart(got), [("bytes 5000-5009/10000", "text/plain", body[5000:5010]),
                                                ("bytes 10-19/10000", "text/plain", body[10:20])])
        self.assertEqual(self.origin.hits(path), 2)

    def test_never_for_the_whole(self):
        """S216, RFC 9111 §3.3"""
        path = self.path()
        self.origin.on(path, [ranging(), response(503)])
        self.part(path, "bytes=0-99", (0, 99), hits=1)
        self.assertEqual(self.get(path).status, 503)
        self.assertEqual(self.ask("HEAD", path).status, 503)
        self.assertEqual(self.get(path, {"Range": "bytes=0-100"}).status, 503)
        self.assertEqual(self.get(path, {"Range": "bytes=0-9", "If-Range": '"v0"'}).status, 503)
        self.assertEqual(self.get(path, {"Range": "bytes=9-0"}).status, 503)
        self.part(path, "bytes=0-9", (0, 9), hits=6)

    def test_whole_in_one_206(self):
        """What holds everything is no part (browsers ask for bytes=0-)."""
        for etag in ('"v1"', 'W/"v1"'):
            path = self.path()
            self.origin.on(path, ranging(fields=tagged(etag)))
            self.part(path, "bytes=0-", (0, 999), hits=1)
            self.whole(path, hits=1)

    def test_joined_to_the_whole(self):
        for order in (("0-399", "400-999"), ("400-999", "0-399"), ("0-500", "700-999", "400-800"), ("10-20", "0-600", "500-999")):
            with self.subTest(order):
                path = self.path()
                self.origin.on(path, ranging())
                for value in order:
                    self.get(path, {"Range": "bytes=" + value})
                self.whole(path, hits=len(order))
                self.assertEqual(self.ask("HEAD", path)["Content-Length"], "1000")

    def test_completed(self):
        """RFC 9111 §3.4: what is missing is asked for, if it is still the same."""
        for parts, missing in ((("0-399",), "bytes=400-999"), (("400-999",), "bytes=0-399"), (("0-99", "900-999"), "bytes=100-899"),
                               (("0-99", "200-299"), "bytes=100-999")):
            for method in ("GET", "HEAD"):
                with self.subTest(parts, method=method):
                    path = self.path()
                    self.origin.on(path, ranging())
                    for value in parts:
                        self.get(path, {"Range": "bytes=" + value})
                    got = self.ask(method, path)
                    self.assertEqual((got.status, got.body, got["Content-Length"]), (200, BODY if method == "GET" else b"", "1000"))
                    self.assertEqual((got.why, got["Content-Range"], got["Content-Type"]), ("miss_partial", None, "text/plain"))
                    asked = self.origin.seen(path)[-1]
                    self.assertEqual((asked["Range"], asked["If-Range"], asked["If-None-Match"]), (missing, '"v1"', None))
                    self.whole(path, hits=len(parts) + 1)

    def test_completed_by_a_206_that_leaves_fields_out(self):
        """RFC 9110 §15.3.7.1: an answer to If-Range need not repeat what the client has; new values win."""
        path = self.path()

        def rest(exchange):
            exchange.answer(206, {"ETag": '"v1"', "Cache-Control": "max-age=60", "X-A": "new", "Content-Range": "bytes 400-999/1000"}, BODY[400:])
        self.origin.on(path, [ranging(fields=tagged(**{"X-A": "old", "X-B": "b", "Content-Encoding": "gzip"})), rest])
        self.get(path, {"Range": "bytes=0-399"})
        got = self.whole(path, hits=2)
        self.assertEqual((got["X-A"], got["X-B"], got["Content-Type"], got["Content-Encoding"]), ("new", "b", "text/plain", "gzip"))

    def test_condition_on_a_completed_one(self):
        path = self.path()
        self.origin.on(path, ranging())
        self.get(path, {"Range": "bytes=0-399"})
        self.assertEqual(self.get(path, {"If-None-Match": '"v1"'}).status, 304)
        self.whole(path, hits=2)

    def test_completion_finds_another(self):
        """Every answer that is not the rest of the same thing: the whole is fetched, and no octets are mixed."""
        new = b"new!" * 250
        answers = {
            "changed: 200": response(200, tagged('"v2"'), new),
            "206 with another tag": response(206, tagged('"v2"', **{"Content-Range": "bytes 400-999/1000"}), new[400:]),
            "206 with a weak tag": response(206, tagged('W/"v1"', **{"Content-Range": "bytes 400-999/1000"}), new[400:]),
            "206 of another length": response(206, tagged(**{"Content-Range": "bytes 400-999/2000"}), new[400:]),
            "206 of another coding": response(206, tagged(**{"Content-Range": "bytes 400-999/1000", "Content-Encoding": "br"}), new[400:]),
            "206 of another range": response(206, tagged(**{"Content-Range": "bytes 300-899/1000"}), new[300:900]),
            "206 shorter than it says": response(206, tagged(**{"Content-Range": "bytes 400-999/1000"}), new[500:]),
            "206 without Content-Range": response(206, tagged(), new[400:]),
            "206 of unknown length": response(206, tagged(**{"Content-Range": "bytes 400-999/*"}), new[400:]),
            "206 in several parts": response(206, tagged(**{"Content-Type": "multipart/byteranges; boundary=x"}), b"\r\n--x--\r\n"),
            "206 that must not be stored": response(206, tagged(**{"Cache-Control": "no-store", "Content-Range": "bytes 400-999/1000"}), new[400:]),
            "206 cut off": response(206, tagged(**{"Content-Range": "bytes 400-999/1000", "Content-Length": "600"}), new[900:]),
            "416": response(416, {**FRESH, "Content-Range": "bytes */10"}),
            "unasked 304": response(304, {"ETag": '"v1"'}),
        }
        for case, answer in answers.items():
            with self.subTest(case):
                path = self.path()

                def second(exchange, answer=answer, case=case):
                    exchange.send(answer)
                    if "cut" in case:
                        exchange.close()
                self.origin.on(path, [ranging(), second, response(200, tagged('"v2"'), new)])
                self.part(path, "bytes=0-399", (0, 399))
                self.whole(path, new)
                self.whole(path, new, hits=2 if case.endswith("200") else 3)

    def test_stale_part_is_validated(self):
        """If-None-Match and Range together: 304, or the new part, and never more than was asked for."""
        path = self.path()
        self.origin.on(path, [ranging(fields=stale()), ranging()])
        self.part(path, "bytes=100-199", (100, 199))
        got = self.part(path, "bytes=110-119", (110, 119), hits=2)
        asked = self.origin.seen(path)[-1]
        self.assertEqual((got.why, asked["If-None-Match"], asked["Range"]), ("revalidated", '"v1"', "bytes=110-119"))
        self.part(path, "bytes=100-199", (100, 199), hits=2)              # freshened, all of it

    def test_stale_part_has_changed(self):
        new = b"new!" * 250
        path = self.path()
        self.origin.on(path, [ranging(fields=stale()), ranging(new, tagged('"v2"'))])
        self.part(path, "bytes=100-199", (100, 199))
        self.part(path, "bytes=110-119", (110, 119), body=new, hits=2)
        self.part(path, "bytes=110-119", (110, 119), body=new, hits=2)
        self.part(path, "bytes=100-109", (100, 109), body=new, hits=3)    # the old octets are gone
        self.whole(path, new)

    def test_stale_part_and_the_whole(self):
        path = self.path()
        self.origin.on(path, [ranging(fields=stale()), ranging()])
        self.part(path, "bytes=0-399", (0, 399))
        self.whole(path, hits=2)
        self.assertEqual(self.origin.seen(path)[-1]["If-Range"], '"v1"')
        self.whole(path, hits=2)

    def test_part_of_something_new_replaces(self):
        new = b"new!" * 250
        for case, fields in (("other tag", tagged('"v2"')), ("other length", tagged()), ("other coding", tagged(**{"Content-Encoding": "gzip"}))):
            with self.subTest(case):
                body = new + b"more" if case == "other length" else new
                path = self.path()
                self.origin.on(path, [ranging(), ranging(body, fields)])
                self.part(path, "bytes=0-499", (0, 499))
                self.part(path, f"bytes=500-{len(body) - 1}", (500, len(body) - 1), body=body, hits=2)
                self.whole(path, body)

    def test_not_kept(self):
        """Relayed as they come; the next request for the same is asked again."""
        octets = BODY[:100]
        sound = "bytes 0-99/1000"
        cases = {
            "weak tag": tagged('W/"v1"', **{"Content-Range": sound}),
            "no validator": {**FRESH, "Content-Range": sound},
            "a date that may be weak": {**FRESH, "Content-Range": sound, "Last-Modified": past(1)},
            "shorter than it says": tagged(**{"Content-Range": "bytes 0-199/1000"}),
            "longer than it says": tagged(**{"Content-Range": "bytes 0-9/1000"}),
            "no Content-Range": tagged(),
            "two of them": [*tagged().items(), ("Content-Range", sound), ("Content-Range", sound)],
            "unknown length": tagged(**{"Content-Range": "bytes 0-99/*"}),
            "beyond its end": tagged(**{"Content-Range": "bytes 0-99/50"}),
            "nonsense": tagged(**{"Content-Range": "bytes 99-0/1000"}),
            "another unit": tagged(**{"Content-Range": "items 0-99/1000"}),
            "several parts": tagged(**{"Content-Type": "multipart/byteranges; boundary=x", "Content-Range": sound}),
            "no-store": tagged(**{"Cache-Control": "no-store", "Content-Range": sound}),
            "private": tagged(**{"Cache-Control": "private, max-age=60", "Content-Range": sound}),
            "Vary: *": tagged(**{"Vary": "*", "Content-Range": sound}),
            "too large a whole": tagged(**{"Content-Range": "bytes 0-99/99999999"}),
        }
        for case, fields in cases.items():
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, lambda e, fields=fields: e.answer(206, fields, octets) if e.request["Range"] else e.answer(200, {"Cache-Control": "no-store"}, BODY))
                for count in (1, 2):
                    got = self.get(path, {"Range": "bytes=0-99"})
                    self.assertEqual((got.status, got.body, self.origin.hits(path)), (206, octets, count))
                    self.assertIsNone(got.cache.get("stored"))
                self.whole(path)

    def test_chunked_206(self):
        path = self.path()
        head = response(206, tagged(**{"Content-Range": "bytes 0-9/1000", "Transfer-Encoding": "chunked"}))
        self.origin.on(path, head + b"5\r\n00000\r\n5\r\n00100\r\n0\r\n\r\n")
        for _ in range(2):
            got = self.get(path, {"Range": "bytes=0-9"})
            self.assertEqual((got.status, got.body, self.origin.hits(path)), (206, b"0000000100", 1))
        path = self.path()
        self.origin.on(path, head + b"5\r\n00000\r\n0\r\n\r\n")
        for count in (1, 2):
            got = self.get(path, {"Range": "bytes=0-9"})
            self.assertEqual((got.status, got.body, self.origin.hits(path)), (206, b"00000", count))

    def test_strong_date(self):
        """RFC 9110 §8.8.2.2: without any tag, an old Last-Modified will do."""
        fields = {**FRESH, "Last-Modified": past(86400)}
        path = self.path()
        self.origin.on(path, ranging(fields=fields))
        self.get(path, {"Range": "bytes=0-399"})
        self.whole(path, hits=2)
        self.assertEqual(self.origin.seen(path)[-1]["If-Range"], fields["Last-Modified"])

    def test_unasked_206(self):
        """S216: nobody asked for a part, so it is nobody's."""
        path = self.path()
        self.origin.on(path, [response(206, tagged(**{"Content-Range": "bytes 0-99/1000"}), BODY[:100]), ranging()])
        self.assertEqual(self.get(path).status, 206)
        self.whole(path, hits=2)

    def test_variants(self):
        """Parts of two variants are two things."""
        path = self.path()

        def handler(exchange):
            ranging(BODY if exchange.request["Accept-Language"] == "de" else BODY[::-1], tagged(Vary="Accept-Language"))(exchange)
        self.origin.on(path, handler)
        for value in ("bytes=0-499", "bytes=500-999"):
            for language, body in (("de", BODY), ("en", BODY[::-1])):
                self.part(path, value, byte_range(value, 1000), body=body, ask=[("Accept-Language", language)])
        for language, body in (("de", BODY), ("en", BODY[::-1])):
            self.whole(path, body, ask={"Accept-Language": language}, hits=4)

    def test_write_invalidates_parts(self):
        """RFC 9111 §4.4"""
        new = b"new!" * 250
        path = self.path()
        self.origin.on(path, [ranging(), response(200, {}, b"written"), ranging(new)])
        self.part(path, "bytes=0-499", (0, 499))
        self.ask("POST", path, (), b"x")
        self.part(path, "bytes=500-999", (500, 999), body=new)
        self.whole(path, new)

    def test_only_if_cached_and_no_cache(self):
        """A route's clients are not obeyed by default, but only-if-cached has to be what it says where they are."""
        path = self.path()
        self.origin.on(path, ranging())
        self.part(path, "bytes=0-499", (0, 499))
        self.part(path, "bytes=0-9", (0, 9), ask=[("Cache-Control", "only-if-cached")], hits=1)

    def test_many_small_parts(self):
        """Bounded: beyond 32 parts the smallest go."""
        path = self.path()
        self.origin.on(path, ranging())
        for i in range(40):
            first = i * 20
            self.part(path, f"bytes={first}-{first + 9 - i // 8}", (first, first + 9 - i // 8))
        self.part(path, "bytes=0-9", (0, 9), hits=40)
        self.whole(path, hits=41)


class Together(RangesTest):
    """Requests for parts at the same time (catalogue S224)."""

    def held(self, handler):
        go, path = threading.Event(), self.path()
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.wait(go), handler(e)))
        return path, go

    def burst(self, path, asks):
        clients = [self.client() for _ in asks]
        for client, ask in zip(clients, asks):
            client.send(request("GET", path, ask))
        return clients

    def in_flight(self, count):
        wait_until(lambda: self.etagere.metric("etagere_http_requests_in_flight") >= count, f"{count} requests in flight")

    def test_the_same_part(self):
        for case, handler, hits in (("206", ranging(), 1), ("200", lambda e: e.answer(200, tagged(), BODY), 1)):
            with self.subTest(case):
                path, go = self.held(handler)
                clients = self.burst(path, [{"Range": "bytes=10-19"}] * 20)
                self.origin.wait_hits(path, 1)
                self.in_flight(20)
                go.set()
                got = [client.read() for client in clients]
                self.assertEqual([(r.status, r.body) for r in got], [(206, BODY[10:20])] * 20)
                self.assertEqual(self.origin.hits(path), hits)

    def test_parts_do_not_wait_for_the_whole(self):
        path, go = self.held(lambda e: ranging()(e))
        whole = self.client()
        whole.send(request("GET", path))
        self.origin.wait_hits(path, 1)
        self.origin.on(path, ranging())
        self.part(path, "bytes=0-9", (0, 9), hits=2)
        go.set()
        self.assertEqual(whole.read().body, BODY)
        self.part(path, "bytes=500-509", (500, 509), hits=2)               # the whole, not the part, is there now

    def test_a_late_part_does_not_replace_the_whole(self):
        path, go = self.held(ranging())
        part = self.client()
        part.send(request("GET", path, {"Range": "bytes=0-9"}))
        self.origin.wait_hits(path, 1)
        self.origin.on(path, ranging())
        self.whole(path, hits=2)
        go.set()
        self.assertEqual(part.read().body, BODY[:10])
        self.whole(path, hits=2)

    def test_a_part_from_before_a_write_is_not_kept(self):
        path, go = self.held(ranging())
        part = self.client()
        part.send(request("GET", path, {"Range": "bytes=0-9"}))
        self.origin.wait_hits(path, 1)
        self.origin.on(path, response(200, {}, b"written"))
        self.ask("POST", path, (), b"x")
        go.set()
        self.assertEqual(part.read().status, 206)
        self.origin.on(path, ranging(b"new!" * 250, tagged('"v2"')))
        self.part(path, "bytes=0-9", (0, 9), body=b"new!" * 250, hits=3)

    def test_different_parts(self):
        path = self.path()
        self.origin.on(path, ranging())
        many(10, lambda i: self.part(path, f"bytes={i * 100}-{i * 100 + 99}", (i * 100, i * 100 + 99)))
        self.whole(path)
        self.whole(path)

    def test_completion_is_shared(self):
        path = self.path()
        self.origin.on(path, ranging())
        self.part(path, "bytes=0-499", (0, 499))
        go = threading.Event()
        self.addCleanup(go.set)
        self.origin.on(path, lambda e: (e.wait(go), ranging()(e)))
        clients = self.burst(path, [{}] * 20)
        self.origin.wait_hits(path, 2)
        self.in_flight(20)
        go.set()
        self.assertEqual([(r.status, r.body) for r in (c.read() for c in clients)], [(200, BODY)] * 20)
        self.assertEqual(self.origin.hits(path), 2)


class Remote(RangesTest):
    """Parts that lie in memcached, and nowhere else."""

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

    def kept(self, ask):
        """Runs `ask` and waits until what it stored has reached memcached."""
        def written():
            return self.etagere.metric("etagere_store_operations_total", op="put", result="ok")
        before = written()
        ask()
        wait_until(lambda: written() > before, "the write behind the answer")

    def test_whole_from_memcached(self):
        path = self.path()
        self.origin.on(path, ranging())
        self.kept(lambda: self.whole(path))
        self.part(path, "bytes=-5", (995, 999), hits=1)
        self.assertEqual(len(split_multipart(self.get(path, {"Range": "bytes=0-3,900-903"}))), 2)
        self.assertEqual(self.get(path, {"Range": "bytes=1000-"}).status, 416)
        self.assertEqual(self.origin.hits(path), 1)

    def test_parts_join_there(self):
        path = self.path()
        self.origin.on(path, ranging())
        for value, want in (("bytes=0-399", (0, 399)), ("bytes=900-999", (900, 999))):
            self.kept(lambda value=value, want=want: self.part(path, value, want))
        self.part(path, "bytes=0-399", (0, 399), hits=2)
        with_other = Etagere(self.CONFIG, values={"ORIGIN": self.origin.url, **self.VALUES})
        self.addCleanup(with_other.stop)
        with with_other.client() as client:                                # another process
            got = client.ask("GET", path, {"Range": "bytes=-100"})
            self.assertEqual((got.status, got.body, got.why), (206, BODY[900:], "hit_fresh"))
            got = client.ask("GET", path)
            self.assertEqual((got.status, got.body, got.why), (200, BODY, "miss_partial"))
        self.assertEqual((self.origin.hits(path), self.origin.seen(path)[-1]["Range"]), (3, "bytes=400-899"))
        wait_until(lambda: with_other.metric("etagere_store_operations_total", op="put", result="ok"), "the whole to be written")
        self.assertEqual(self.whole(path, hits=3).why, "hit_fresh")

    def test_equal_octets_of_different_parts(self):
        """Two parts with the same bytes are one entity there, and still two parts."""
        body = b"same" * 250
        path = self.path()
        self.origin.on(path, ranging(body))
        self.kept(lambda: self.part(path, "bytes=0-399", (0, 399), body=body))
        other = self.path()
        self.origin.on(other, ranging(body))
        self.kept(lambda: self.part(other, "bytes=400-799", (400, 799), body=body))
        self.part(other, "bytes=400-409", (400, 409), body=body, hits=1)
        self.kept(lambda: self.part(other, "bytes=0-9", (0, 9), body=body, hits=2))
        self.kept(lambda: self.whole(other, body))
        self.kept(lambda: self.whole(path, body))


if __name__ == "__main__":
    unittest.main()
