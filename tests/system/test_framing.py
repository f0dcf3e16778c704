"""HTTP/1 request framing (security catalogue S001-S045, bug case B112): whatever could be read in two ways is read in none."""

import threading
import unittest

from harness import Client, SystemTest, WireError, chunked, lines, request, response, sanitized


def post(*fields, body=b""):
    return lines("POST @P@ HTTP/1.1", "Host: shop.test", *fields) + body


CHUNKED = "Transfer-Encoding: chunked"


class AmbiguousHeads(SystemTest):
    def check(self, table):
        for case, raw, *statuses in table:
            with self.subTest(case):
                self.refused(raw, *statuses)

    def test_both_framings(self):
        hidden = self.hidden()
        inside = b"%x\r\n%s\r\n0\r\n\r\n" % (len(hidden), hidden)
        self.check((
            ("S001 length first, request behind the last chunk",
             post(f"Content-Length: {5 + len(hidden)}", CHUNKED, body=b"0\r\n\r\n" + hidden)),
            ("S002 coding first, request inside the first chunk", post(CHUNKED, "Content-Length: 4", body=inside)),
            ("S003 xchunked with length", post("Transfer-Encoding: xchunked", "Content-Length: 4", body=inside),
             (400, 501)),
            ("S004 gzip then length", post("Transfer-Encoding: gzip", "Content-Length: 3", body=b"abc" + hidden),
             (400, 501)),
        ))

    def test_transfer_codings(self):
        hidden = self.hidden()
        body = b"0\r\n\r\n" + hidden
        rows = [
            (f"S009 {value!r}", post(f"Transfer-Encoding:{value}", body=body), (400, 501))
            for value in (' "chunked"', " chunked;a=b", "", " ,chunked", " chunked,", " chunked, chunked", " x",
                          " chunked\x0b", " \x0bchunked", " chunked chunked")]
        rows += [(f"S014 {value} without length", post(f"Transfer-Encoding: {value}", body=body), (400, 501))
                 for value in ("xchunked", "identity", "gzip", "chunked, gzip", "gzip, chunked")]
        rows += [
            ("S005 chunked, identity", post("Transfer-Encoding: chunked, identity", body=body), (400, 501)),
            ("S007 two fields", post(CHUNKED, CHUNKED, body=body)),
            ("S007 two fields, second chunked", post("Transfer-Encoding: x", CHUNKED, body=body), (400, 501)),
            ("S007 two fields, first chunked", post(CHUNKED, "Transfer-Encoding: identity", body=body), (400, 501)),
            ("S011 space before the colon", post("Transfer-Encoding : chunked", body=body)),
            ("S013 line ended by LF", b"POST @P@ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\n\r\n" + body),
            ("S013 folded", post("Transfer-Encoding:", " chunked", body=body)),
            ("S017 HTTP/1.0", lines("POST @P@ HTTP/1.0", "Host: a", CHUNKED, "Connection: keep-alive") + body),
        ]
        self.check(rows)

    def test_content_length(self):
        rows = [(f"S020 {value!r}", post(f"Content-Length: {value}", body=b"abcde"))
                for value in ("+5", "-1", "-0", "0x5", "5_0", "5.0", "1e1", "5;a", "5 5", '"5"', "", "five", "\x0b5")]
        rows += [(f"S022 {value}", post(f"Content-Length: {value}", body=b"abcde"), (400, 413))
                 for value in (2 ** 64 + 5, 2 ** 63, 2 ** 64 - 1, 10 ** 30)]
        rows += [
            ("S023 5 and 0", post("Content-Length: 5", "Content-Length: 0", body=b"abcde")),
            ("S023 5, 6", post("Content-Length: 5, 6", body=b"abcde")),
            ("S023 three", post("Content-Length: 5", "Content-Length: 5", "Content-Length: 6", body=b"abcde")),
            ("S025 space before the colon", post("Content-Length : 5", body=b"abcde")),
            ("S025 folded", post("Content-Length:", "\t5", body=b"abcde")),
        ]
        self.check(rows)

    def test_equal_lengths_are_refused_or_collapsed(self):
        for case, *fields in (("S024 twice", "Content-Length: 5", "Content-Length: 5"),
                              ("S024 5, 5", "Content-Length: 5, 5"), ("S024 005", "Content-Length: 005")):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, response(200, (), b"ok"))
                client = self.client()
                client.send(post(*fields, body=b"abcde").replace(b"@P@", path.encode()))
                got = client.read()
                self.assertIn(got.status, (200, 400))
                if got.status == 200:
                    [seen] = self.origin.seen(path)
                    self.assertEqual((seen.body, len(seen.fields.all("Content-Length"))), (b"abcde", 1))
                else:
                    self.assertTrue(client.closed())
                    self.assertEqual(self.origin.seen(path), [])

    def test_underscore_names_are_dropped(self):
        """S019: Rack and CGI read Transfer_Encoding as Transfer-Encoding."""
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        got = self.ask("POST", path, {"Transfer_Encoding": "chunked", "Content_Length": "99"}, b"abc")
        self.assertEqual(got.status, 200)
        [seen] = self.origin.seen(path)
        self.assertEqual(seen.body, b"abc")
        self.assertNotIn("Transfer_Encoding", seen.fields)
        self.assertNotIn("Content_Length", seen.fields)


class ChunkedBodies(SystemTest):
    def test_bad_chunks(self):
        hidden = self.hidden()
        for case, body in (
            *((f"S028 size {size!r}", size + b"\r\nabcde\r\n0\r\n\r\n" + hidden)
              for size in (b"0x5", b"+5", b"-5", b"0_5", b"5g", b"", b" 5", b"5 ", b"5\t", b"\x0b5", b"5,", b"\xef")),
            ("S029 17 digits", b"00000000000000005\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S029 2^64 + 5", b"10000000000000005\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S033 longer than its size", b"3\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S033 no CRLF", b"5\r\nabcde0\r\n\r\n" + hidden),
            ("S033 two other bytes", b"5\r\nabcdeXX0\r\n\r\n" + hidden),
            ("S033 CR and another byte", b"5\r\nabcde\rX0\r\n\r\n" + hidden),
            ("S034 size line ended by LF", b"5\nabcde\r\n0\r\n\r\n" + hidden),
            ("S034 data ended by LF", b"5\r\nabcde\n0\r\n\r\n" + hidden),
            ("S034 last chunk ended by LF", b"5\r\nabcde\r\n0\n\r\n" + hidden),
            ("S034 end by LF", b"5\r\nabcde\r\n0\r\n\n" + hidden),
            ("S034 trailer ended by LF", b"0\r\nX: y\n\r\n" + hidden),
            ("S037 70 kB extension", b"5;" + b"a" * 70_000 + b"\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S037 LF in an extension", b"5;a\nb\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S037 CR in an extension", b"5;a\rb\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S037 NUL in an extension", b"5;a\0b\r\nabcde\r\n0\r\n\r\n" + hidden),
            ("S038 trailer without colon", b"5\r\nabcde\r\n0\r\nnonsense\r\n\r\n" + hidden),
            ("S038 trailer with space before the colon", b"0\r\nX : y\r\n\r\n" + hidden),
        ):
            with self.subTest(case):
                self.refused(post(CHUNKED, body=body))

    def test_endless_extension_is_cut(self):
        """S037: no memory is kept for an extension, and no end is waited for."""
        client = self.client()
        client.send(post(CHUNKED, body=b"5;").replace(b"@P@", self.path().encode()))
        before = self.etagere.resident_bytes()
        sent = 0
        while sent < 64 << 20 and client.send(b"a" * 65536):
            sent += 65536
        self.assertLess(sent, 64 << 20)
        self.assertEqual(client.read().status, 400)
        self.assertLess(self.etagere.grown_since(before), 16 << 20)

    def accepted(self, raw, bytewise=False):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        client = self.client()
        client.send(raw.replace(b"@P@", path.encode()) + request("GET", path + "/next"), bytewise)
        self.assertEqual(client.read().status, 200)
        self.assertEqual(client.read().status, 404)
        [seen] = self.origin.seen(path)
        return seen

    def test_good_chunks(self):
        for case, coding, body, want in (
            ("S018 coding in any case", "ChUnKeD", chunked(b"abc"), b"abc"),
            ("S028 upper and lower case, leading zeros", "chunked", b"00A\r\n0123456789\r\n0b\r\n01234567890\r\n0\r\n\r\n",
             b"012345678901234567890"),
            ("S036 extensions", "chunked", b'3;a=b;c="d;e"\r\nabc\r\n0;z\r\n\r\n', b"abc"),
            ("empty body", "chunked", b"0\r\n\r\n", b""),
        ):
            with self.subTest(case):
                seen = self.accepted(post(f"Transfer-Encoding: {coding}", body=body))
                self.assertEqual(seen.body, want)          # the origin's reader refuses extensions: none came through

    def test_trailers_never_become_fields(self):
        """S038, B108, RFC 9110 §6.5.1"""
        trailers = [("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Host", "evil.test"), ("X-Own", "1"),
                    ("Authorization", "Basic eA=="), ("X-Forwarded-For", "6.6.6.6"), ("Connection", "close"),
                    ("Upgrade", "x"), ("Cookie", "a=b")]
        seen = self.accepted(post(CHUNKED, body=chunked(b"abc", trailers=trailers)))
        self.assertEqual((seen.body, seen.fields.all("Host")), (b"abc", ["shop.test"]))
        for name in ("Authorization", "X-Own", "Cookie", "Upgrade"):
            self.assertNotIn(name, seen.fields)
        self.assertNotIn("6.6.6.6", str(seen.fields))
        for name in ("Content-Length", "Transfer-Encoding", "Host", "Authorization", "X-Forwarded-For", "Connection"):
            self.assertNotIn(name, seen.trailers)

    def test_many_small_chunks(self):
        """S040: work grows with the bytes, not with their square."""
        before = self.etagere.cpu_seconds()
        seen = self.accepted(post(CHUNKED, body=b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n"))
        self.assertEqual(seen.body, b"x" * 50_000)
        self.assertLess(self.etagere.cpu_seconds() - before, 30 if sanitized() else 5)

    def test_one_byte_a_segment(self):
        """S045"""
        seen = self.accepted(post(CHUNKED, "X-A: b", body=chunked(b"abc", b"defgh", trailers=[("T", "u")])), bytewise=True)
        self.assertEqual((seen.body, seen["X-A"]), (b"abcdefgh", "b"))
        self.refused(post("Content-Length: 5", CHUNKED, body=b"0\r\n\r\n"), bytewise=True)
        self.refused(post(CHUNKED, body=b"5\r\nabcdeXX"), bytewise=True)

    def test_every_split_point(self):
        """S045"""
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        raw = request("POST", path, {"Transfer-Encoding": "chunked"}, chunked(b"ab", b"c")) + request("GET", path)
        client = self.client()
        for at in range(1, len(raw)):
            client.send(raw[:at])
            client.send(raw[at:])
            self.assertEqual([client.read().status, client.read().status], [200, 200], f"split at {at}")
        self.assertEqual({r.body for r in self.origin.seen(path)}, {b"abc", b""})


class MessageBoundaries(SystemTest):
    def test_upload_cut_by_half_close(self):
        """S027: the origin must not execute half of an order."""
        for case, fields, body in (("length", {"Content-Length": "50"}, b"abcde"),
                                   ("chunked", {"Transfer-Encoding": "chunked"}, b"5\r\nabcde\r\n"),
                                   ("chunk cut", {"Transfer-Encoding": "chunked"}, b"5\r\nabc"),
                                   ("before the end", {"Transfer-Encoding": "chunked"}, b"5\r\nabcde\r\n0\r\n")):
            with self.subTest(case):
                path = self.path()
                self.origin.on(path, response(200, (), b"executed"))
                client = self.client()
                client.send(request("POST", path, fields, body))
                client.finish_sending()
                try:
                    self.assertGreaterEqual(client.read().status, 400)
                except WireError:
                    self.assertEqual(client.reader.buffer, b"")
                self.origin.wait_for(lambda o: o.in_flight == 0, "the upload to be given up")
                self.assertEqual([r for r in self.origin.seen(path) if r.complete], [])

    def test_pipelined_answers_come_in_order(self):
        """S041"""
        first, hold = self.path(), threading.Event()
        self.origin.on(first, lambda e: (e.wait(hold), e.answer(200, (), b"first")))
        others = [self.path(), self.path()]
        for path in others:
            self.origin.on(path, response(200, (), path.encode()))
        client = self.client()
        client.send(b"".join(request("GET", path) for path in (first, *others)))
        self.origin.wait_hits(first, 1)
        hold.set()
        self.assertEqual([client.read().body for _ in range(3)], [b"first", *(path.encode() for path in others)])

    def test_deep_pipelines(self):
        """CVE-2026-40396: many requests in one segment, hits and misses mixed, answered in order."""
        hit, misses = self.path(), [self.path() for _ in range(10)]
        self.origin.on(hit, response(200, {"Cache-Control": "max-age=60"}, b"hit"))
        self.get(hit)
        client = self.client()
        client.send(b"".join(request("GET", hit) * 100 + request("GET", miss) for miss in misses))
        for _ in misses:
            self.assertEqual([client.read().body for _ in range(100)], [b"hit"] * 100)
            self.assertEqual(client.read().status, 404)

    def test_pipeline_that_nobody_reads(self):
        """Answers wait for the client, and requests for the answers: nothing piles up."""
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60"}, b"x" * 100_000))
        self.get(path)
        before = self.etagere.resident_bytes()
        client = self.client(receive_buffer=4096)
        client.sock.settimeout(0.5)
        pipeline, sent = request("GET", path) * 1000, 0
        try:
            while sent < 64 << 20:
                sent += client.sock.send(pipeline)
        except TimeoutError:
            pass
        self.assertLess(sent, 64 << 20)
        self.assertLess(self.etagere.grown_since(before), 16 << 20)

    def test_body_on_methods_that_have_none(self):
        """S043: the body is never taken for a request, whatever the method."""
        for method in ("GET", "HEAD", "DELETE", "OPTIONS", "FOO"):
            with self.subTest(method):
                path, hidden = self.path(), self.hidden()
                self.origin.on(path, response(200, (), b"" if method == "HEAD" else b"ok"))
                client = self.client()
                client.send(request(method, path, (), hidden) + request("GET", path + "/next"))
                got = client.read(method)
                if got.status == 200:
                    [seen] = self.origin.seen(path)
                    self.assertIn(seen.body, (b"", hidden))
                else:
                    self.assertIn(got.status, range(400, 500))
                if got["Connection"] == "close":
                    self.assertTrue(client.closed())
                else:
                    self.assertEqual(client.read().status, 404)

    def test_post_without_framing_has_no_body(self):
        """S044, RFC 9112 §6.3"""
        path, after = self.path(), self.path()
        for each in (path, after):
            self.origin.on(each, response(200, (), each.encode()))
        client = self.client()
        client.send(post().replace(b"@P@", path.encode()) + request("GET", after))
        self.assertEqual([client.read().body, client.read().body], [path.encode(), after.encode()])
        self.assertEqual(self.origin.seen(path)[0].body, b"")

    def test_hit_for_a_get_with_a_body_leaves_nothing_behind(self):
        """S222 (CVE-2025-4366)"""
        path, hidden = self.path(), self.hidden()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60"}, b"kept"))
        self.get(path)
        client = self.client()
        for framing, body in (({}, hidden), ({"Transfer-Encoding": "chunked"}, chunked(hidden))):
            client.send(request("GET", path, framing, body) + request("GET", path))
            self.assertEqual(client.read().body, b"kept")
            self.assertEqual(client.read().body, b"kept")

    def test_client_that_has_finished_sending_gets_its_answers(self):
        path, go = self.path(), threading.Event()
        self.origin.on(path, lambda e: (e.wait(go), e.answer(200, {"Cache-Control": "max-age=60"}, b"answer")))
        client = self.client()
        client.send(request("GET", path) * 2)
        client.finish_sending()
        self.origin.wait_hits(path, 1)
        go.set()
        self.assertEqual([client.read().body, client.read().body], [b"answer"] * 2)
        self.assertTrue(client.closed())

    def test_connection_that_ends_inside_a_head_is_just_closed(self):
        path = self.path()
        with Client(self.etagere.address) as client:
            client.send(request("GET", path)[:-2])
            client.finish_sending()
            try:
                self.assertEqual(client.read().status, 400)
            except WireError:
                pass
            self.assertTrue(client.closed())
        self.assertEqual(self.origin.seen(path), [])


if __name__ == "__main__":
    unittest.main()
