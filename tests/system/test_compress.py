"""Compression on the way out (bug cases B36, B46): what gets which coding, and what is left alone. RFC 9110 §8.4, §12.5.3."""

import random
import threading
import unittest
import zlib

from compressing import ALL, FRESH, JSON, CompressTest, article, decode
from harness import Etagere, Memcached, chunked, lines, many, response, validating, wait_until


class Codings(CompressTest):
    def test_every_coding_miss_and_hit(self):
        body = article(20_000)
        for first in (*ALL, None):
            with self.subTest(first=first):
                path = self.serving(body, {**FRESH, "ETag": '"v1"'})
                for coding in (first, *ALL, None, *ALL):
                    got = self.coded(path, coding) if coding else self.get(path)
                    self.assert_coded(got, coding, body)
                    self.assertEqual(got["ETag"], 'W/"v1"' if coding else '"v1"')
                    self.assertEqual(got["Content-Length"], str(len(got.body)))
                self.assertEqual(self.origin.hits(path), 1)

    def test_decoded_bytes_are_the_origins(self):
        """Every size around the borders, held, chunked and streamed, and each form again from the store."""
        sizes = (1023, 1024, 1025, 32_767, 32_768, 32_769, 65_537, 262_144, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20)
        for size in sizes:
            body = article(size, size)
            for framed in ("length", "chunked"):
                with self.subTest(size=size, framed=framed):
                    path = self.path()
                    if framed == "length":
                        self.origin.on(path, response(200, FRESH, body))
                    else:
                        self.origin.on(path, response(200, {**FRESH, "Transfer-Encoding": "chunked"},
                                                      chunked(*(body[i:i + 30_000] for i in range(0, size, 30_000)))))
                    for coding in ALL:
                        got = self.coded(path, coding)
                        self.assertEqual(decode(got["Content-Encoding"], got.body), body)
                        if size >= 1024:
                            self.assertEqual(got["Content-Encoding"], coding)
                    self.assertEqual(self.get(path).body, body)
                    self.assertEqual(self.origin.hits(path), 1)

    def test_short_bodies_stay_as_they_are(self):
        for size in (0, 1, 1023):
            path = self.serving(article(size))
            for _ in range(2):
                got = self.coded(path, "gzip")
                self.assertEqual((got["Content-Encoding"], len(got.body)), (None, size))

    def test_a_body_that_does_not_get_smaller_stays(self):
        body = random.Random(7).randbytes(50_000)
        path = self.serving(body, {**FRESH, "ETag": '"v1"'})
        for _ in range(3):
            got = self.coded(path, "gzip")
            self.assertEqual((got["Content-Encoding"], got["ETag"], got.body), (None, '"v1"', body))
        before = self.etagere.metric("etagere_compression_encoded_bytes_total", route="all")
        self.coded(path, "gzip")
        wait_until(lambda: len(self.etagere.access(path)) >= 4, "the access line")
        self.assertEqual(self.etagere.metric("etagere_compression_encoded_bytes_total", route="all"), before)

    def test_what_the_client_takes(self):
        """The table is in the unit test; B36 here: several lines are one list."""
        path = self.serving(article(5000))
        for lines_, coding in (([], None), ([""], None), (["identity"], None), (["gzip;q=0"], None), (["deflate"], None),
                               (["*"], "zstd"), (["gzip, br"], "br"), (["gzip", "br"], "br"), (["gzip", "zstd;q=0"], "gzip"),
                               (["br;q=0.5, gzip"], "gzip"), (["x-gzip"], "gzip"), (["gzip;q=0.5, identity"], None),
                               (["identity;q=0"], None), (["gzip;q=1.0,deflate;q=0.6,identity;q=0.3"], "gzip")):
            with self.subTest(lines=lines_):
                got = self.get(path, [("Accept-Encoding", value) for value in lines_])
                self.assert_coded(got, coding, article(5000))
        self.assertEqual(self.origin.hits(path), 1)

    def test_head_says_what_get_would(self):
        body = article(9000)
        for host in ("shop.test", "pass.test"):
            path = self.path()

            def origin(exchange, body=body):
                whole = response(200, {**FRESH, "ETag": '"v1"'}, body)
                exchange.send(whole[:-len(body)] if exchange.request.method == "HEAD" else whole)
            self.origin.on(path, origin)
            for order in (("HEAD", "GET", "HEAD"), ("GET", "HEAD")):
                with self.subTest(host=host, order=order):
                    seen = []
                    for method in order:
                        got = self.ask(method, path, {"Host": host, "Accept-Encoding": "br"})
                        seen.append(tuple(got[n] for n in ("Content-Encoding", "ETag", "Vary"))
                                    + ((got["Content-Length"],) if host == "shop.test" else ()))
                    self.assertEqual(len(set(seen)), 1, seen)
                    self.assertEqual(seen[0][:3], ("br", 'W/"v1"', "Accept-Encoding"))

    def test_old_clients_get_identity(self):
        path = self.serving(article(5000))
        got = self.ask("GET", path, {"Accept-Encoding": "gzip"}, version="HTTP/1.0")
        self.assertEqual((got["Content-Encoding"], got.body), (None, article(5000)))

    def test_errors_and_posts(self):
        body = article(5000)
        for status in (404, 422, 500):
            path = self.serving(body, JSON, status)
            got = self.coded(path, "gzip")
            self.assertEqual(got.status, status)
            self.assert_coded(got, "gzip", body)
        path = self.serving(body, JSON)
        got = self.ask("POST", path, {"Accept-Encoding": "zstd"}, b"query")
        self.assert_coded(got, "zstd", body)


class LeftAlone(CompressTest):
    def test_by_what_the_answer_says(self):
        body = article(5000)
        for fields in ({"Content-Type": "image/png"}, {"Content-Type": "application/zip"}, {"Content-Type": ""},
                       {"Content-Type": "application/octet-stream"},
                       {**JSON, "Cache-Control": "max-age=60, no-transform"},
                       {**JSON, "Cache-Control": "max-age=60", "CDN-Cache-Control": "max-age=60, no-transform"},
                       {**JSON, "Cache-Control": "private, max-age=60"}, {**JSON, "Set-Cookie": "a=b"},
                       {**JSON, "Cache-Control": "max-age=60", "Vary": "Cookie"},
                       {**JSON, "X-Accel-Buffering": "no"}, {"Content-Type": "application/grpc"}):
            with self.subTest(fields=fields):
                path = self.serving(body, fields)
                for _ in range(2):
                    got = self.coded(path, "gzip, br, zstd")
                    self.assertEqual((got["Content-Encoding"], got.body), (None, body))
                    self.assertEqual(got["Vary"], fields.get("Vary"))

    def test_a_cookie_needs_the_origins_word(self):
        """BREACH: what was made for a cookie may hold its secret."""
        body = article(5000)
        for cache_control, coding in (("max-age=60", None), ("no-store", None), ("public, max-age=60", "gzip")):
            with self.subTest(cache_control):
                path = self.serving(body, {**JSON, "Cache-Control": cache_control})
                for _ in range(2):
                    self.assert_coded(self.coded(path, "gzip", {"Cookie": "session=1"}), coding, body)

    def test_one_users_copy(self):
        body = article(5000)
        path = self.path()
        self.origin.on(path, validating('"v1"', body, {**JSON, "Cache-Control": "private, max-age=0"}))
        for _ in range(2):
            got = self.coded(path, "gzip", {"Host": "private.test", "Authorization": "Bearer x"})
            self.assertEqual((got["Content-Encoding"], got["ETag"], got.body), (None, '"v1"', body))
        path = self.path()
        self.origin.on(path, validating('"v1"', body, {**JSON, "Cache-Control": "max-age=0"}))
        for _ in range(2):
            got = self.coded(path, "gzip", {"Host": "private.test", "Authorization": "Bearer x"})
            self.assertEqual((got["Content-Encoding"], got["ETag"], got.body), (None, '"v1"', body))

    def test_routes_without_it_change_nothing(self):
        path = self.serving(article(5000), {**FRESH, "ETag": '"v1"'})
        got = self.coded(path, "gzip", {"Host": "plain.test"})
        self.assertEqual((got["Content-Encoding"], got["Vary"], got["ETag"]), (None, None, '"v1"'))
        self.assertEqual(self.origin.seen(path)[0]["Accept-Encoding"], "gzip")

    def test_an_origin_that_compresses_anyway(self):
        """B46: its coded bytes are for those who ask alike, and never coded twice."""
        body = article(5000)
        packed = zlib.compressobj(wbits=31)
        packed = packed.compress(body) + packed.flush()
        path = self.serving(packed, {**FRESH, "Content-Encoding": "gzip", "ETag": '"v1-gzip"'})
        for _ in range(2):
            got = self.coded(path, "gzip, br")
            self.assertEqual((got["Content-Encoding"], got["ETag"], got.body), ("gzip", '"v1-gzip"', packed))
        self.assertEqual(self.origin.hits(path), 1)
        self.get(path)
        self.assertEqual(self.origin.hits(path), 2)

    def test_event_streams_flow(self):
        path, more = self.path(), threading.Event()
        self.origin.on(path, lambda e: [e.send(lines("HTTP/1.1 200 OK", "Content-Type: text/event-stream",
                                                     "Transfer-Encoding: chunked") + b"5\r\ndata:\r\n"),
                                        e.wait(more), e.send(b"0\r\n\r\n")])
        client = self.client()
        client.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")
        head = client.read_final_head()
        self.assertIsNone(head["Content-Encoding"])
        self.assertEqual(next(client.reader.chunks("events")), b"data:")
        more.set()


class Origins(CompressTest):
    def test_the_origin_is_asked_for_identity(self):
        for fields in (FRESH, JSON, {**JSON, "Cache-Control": "no-store"}):
            path = self.serving(article(5000), fields)
            self.coded(path, "gzip")
            self.assertEqual(self.origin.seen(path)[0].fields.all("Accept-Encoding"), ["identity"])

    def test_one_copy_for_everybody(self):
        """An origin that chooses by Accept-Encoding is asked once, whatever clients take."""
        body = article(5000)
        path = self.path()

        def origin(exchange):
            asked = "gzip" in (exchange.request["Accept-Encoding"] or "")
            exchange.answer(200, {**FRESH, "Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if asked else {})},
                            b"never" if asked else body)
        self.origin.on(path, origin)
        for coding in (None, "gzip", "br", "zstd", "gzip, deflate, br"):
            self.get(path, {"Accept-Encoding": coding} if coding else {})
        self.assertEqual(self.origin.hits(path), 1)

    def test_a_cold_key_is_one_fetch(self):
        """Clients of every kind at once: one request to the origin, one encoding of each kind."""
        body, gate = article(100_000), threading.Event()
        path = self.path()
        self.origin.on(path, lambda e: [e.wait(gate), e.answer(200, FRESH, body)])
        before = self.etagere.metric("etagere_compression_encoded_bytes_total", route="all")
        kinds = (*ALL, None)

        def ask(index):
            if index == 0:
                self.origin.wait_hits(path, 1)
                gate.set()
                return None
            coding = kinds[index % 4]
            got = self.coded(path, coding) if coding else self.get(path)
            self.assertEqual(got["Content-Encoding"], coding)
            self.assertEqual(decode(coding, got.body), body)
            return True
        many(33, ask)
        self.assertEqual(self.origin.hits(path), 1)
        self.etagere.access(path, 32)
        encoded = self.etagere.metric("etagere_compression_encoded_bytes_total", route="all") - before
        self.assertEqual(encoded, 3 * len(body))

    def test_streamed_bodies_are_not_held_back(self):
        """Each piece is decodable at the client before the next one leaves the origin."""
        for coding in ALL:
            with self.subTest(coding):
                path, more = self.path(), threading.Event()
                self.origin.on(path, lambda e, more=more: [
                    e.send(lines("HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: no-store",
                                 'ETag: "v1"', "Transfer-Encoding: chunked", "Content-Digest: sha-256=:x:")
                           + b"5\r\nfirst\r\n"),
                    e.wait(more), e.send(b"6\r\nsecond\r\n0\r\nDigest: x\r\nX-Sum: y\r\n\r\n")])
                client = self.client()
                client.send(b"GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n\r\n" % (path.encode(), coding.encode()))
                head = client.read_final_head()
                self.assertEqual((head["Content-Encoding"], head["ETag"], head["Vary"], head["Content-Digest"]),
                                 (coding, 'W/"v1"', "Accept-Encoding", None))
                chunks = client.reader.chunks("coded")
                got = next(chunks)
                if coding == "gzip":
                    self.assertEqual(zlib.decompressobj(31).decompress(got), b"first")
                more.set()
                while True:
                    try:
                        got += next(chunks)
                    except StopIteration as end:
                        trailers = end.value
                        break
                self.assertEqual(decode(coding, got), b"firstsecond")
                self.assertEqual(trailers, [("X-Sum", "y")])

    def test_a_body_that_breaks_off_is_seen_to(self):
        path = self.path()
        self.origin.on(path, lambda e: [e.send(lines("HTTP/1.1 200 OK", "Content-Type: text/html", 'ETag: "v1"',
                                                     "Cache-Control: no-store", "Transfer-Encoding: chunked")
                                               + b"800\r\n" + b"x" * 2048 + b"\r\n"), e.close()])
        with self.assertRaises(AssertionError):
            self.coded(path, "gzip")

    def test_past_the_cache(self):
        body = article(50_000)
        path = self.serving(body, {**JSON, "ETag": '"v1"'})
        for coding in ALL:
            got = self.coded(path, coding, {"Host": "pass.test"})
            self.assert_coded(got, coding, body)
            self.assertEqual(got["ETag"], 'W/"v1"')


class Metrics(CompressTest):
    def test_what_was_saved(self):
        body = article(30_000)
        path = self.serving(body)
        sent = [len(self.coded(path, "br").body) for _ in range(4)]
        self.etagere.access(path, 4)
        self.assertEqual(self.etagere.metric("etagere_compression_responses_total", route="all", coding="br"), 4)
        self.assertEqual(self.etagere.metric("etagere_compression_bytes_total", coding="br", side="upstream"), 4 * len(body))
        self.assertEqual(self.etagere.metric("etagere_compression_bytes_total", coding="br", side="client"), sum(sent))
        self.assertEqual(self.etagere.metric("etagere_compression_encoded_bytes_total", route="all"), len(body))
        self.get(path, {"Accept-Encoding": "br", "If-None-Match": "*"})
        self.ask("HEAD", path, {"Accept-Encoding": "br"})
        self.etagere.access(path, 6)
        self.assertEqual(self.etagere.metric("etagere_compression_responses_total", route="all"), 4)


class SmallBudget(CompressTest):
    CONFIG = CompressTest.CONFIG.replace("size: 64MiB, max_object: 4MiB", "size: 300KiB, max_object: 100KiB")

    def test_the_budget_holds(self):
        bodies = {self.path(): article(30_000, seed) for seed in range(30)}
        for path, body in bodies.items():
            self.origin.on(path, response(200, FRESH, body))
        for _ in range(2):
            for path, body in bodies.items():
                for coding in ("gzip", "br", None):
                    got = self.coded(path, coding) if coding else self.get(path)
                    self.assertEqual((got["Content-Encoding"], decode(coding, got.body)), (coding, body))
        self.assertLessEqual(self.etagere.metric("etagere_store_bytes"), 300 * 1024)
        self.assertGreater(self.etagere.metric("etagere_store_evictions_total"), 0)

    def test_a_form_without_room_is_not_made_again(self):
        """A body that fits alone, but not together with its form."""
        body = b"".join(b"%016x" % random.Random(i).getrandbits(64) for i in range(90_000 // 16))    # halves
        path = self.serving(body)
        for _ in range(6):
            self.assertIn(self.coded(path, "gzip")["Content-Encoding"], ("gzip", None))
            self.assertIn(self.coded(path, "br")["Content-Encoding"], ("br", None))
            self.assertIn(self.coded(path, "zstd")["Content-Encoding"], ("zstd", None))
        self.assertEqual(self.origin.hits(path), 1)
        self.etagere.access(path, 18)
        self.assertLessEqual(self.etagere.metric("etagere_compression_encoded_bytes_total", route="all"), 40 * 3 * 2 * 30_000)


class SharedStore(CompressTest):
    """memcached holds identity only; each sidecar derives the forms itself."""

    CONFIG = CompressTest.CONFIG.replace("max_object: 4MiB }", 'max_object: 4MiB }, memcached: { servers: "@MEMCACHED@", timeout: 2s }')

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}"}

    def test_another_sidecar_codes_it_too(self):
        body = article(20_000)
        path = self.serving(body, {**FRESH, "ETag": '"v1"'})
        self.assert_coded(self.coded(path, "gzip"), "gzip", body)
        other = Etagere(self.CONFIG, values={"ORIGIN": self.origin.url, **self.VALUES})
        self.addCleanup(other.stop)

        def there():
            with other.client() as client:
                return client.ask("GET", path, {"Accept-Encoding": "br", "Cache-Control": "only-if-cached"}).why == "hit_fresh"
        wait_until(there, "memcached to have it")
        before = self.origin.hits(path)
        for coding in (*ALL, None):
            with other.client() as client:
                got = client.ask("GET", path, {"Accept-Encoding": coding} if coding else {})
            self.assert_coded(got, coding, body)
            with other.client() as client:
                got = client.ask("GET", path, {"If-None-Match": 'W/"v1"', **({"Accept-Encoding": coding} if coding else {})})
            self.assertEqual((got.status, got["ETag"]), (304, 'W/"v1"' if coding else '"v1"'))
        self.assertEqual(self.origin.hits(path), before)


class WithoutMemory(SharedStore):
    """Nothing to keep a form in: it is made for each answer."""

    CONFIG = SharedStore.CONFIG.replace("memory: { size: 64MiB, max_object: 4MiB }", "memory: { size: 0 }")


if __name__ == "__main__":
    unittest.main()
