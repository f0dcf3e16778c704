"""Field lines, request line, Host and target (security catalogue S050-S078), and the forwarding fields."""

import unittest

from harness import Client, Origin, SystemTest, lines, request, response


def get(*fields, line="GET @P@ HTTP/1.1", host="Host: shop.test"):
    return lines(line, *([host] if host is not None else []), *fields)


class BadHeads(SystemTest):
    def check(self, *table):
        for case, raw, *statuses in table:
            with self.subTest(case):
                self.refused(raw, *statuses)

    def test_field_lines(self):
        self.check(
            ("S050 space before the colon", get("X-A : b")),
            ("S050 tab before the colon", get("X-A\t: b")),
            ("S050 no colon", get("X-A")),
            ("S050 empty name", get(": b")),
            ("S050 name with a space", get("X A: b")),
            ("S050 name with a quote", get('X"A: b')),
            ("S050 name with a high byte", get("X\xe9: b")),
            ("S051 folded with a space", get("X-A: b", " c")),
            ("S051 folded with a tab", get("X-A: b", "\tc")),
            ("S051 folded Host", get(host="Host:\r\n shop.test")),
            ("S051 only white space", get("X-A: b", " ")),
            ("S053 NUL in a value", get("X-A: b\0c")),
            ("S053 bare CR in a value", get("X-A: b\rX-B: c")),
            ("S053 bare CR at the end", get("X-A: b\r")),
            ("S053 NUL in a name", get("X\0A: b")),
            ("S053 control character", get("X-A: b\x01c")),
            ("S053 DEL", get("X-A: b\x7fc")),
            ("S056 space before the first field", lines("GET @P@ HTTP/1.1", " Host: shop.test")),
            ("S056 space before a later field", lines("GET @P@ HTTP/1.1", " X: y", "Host: shop.test")),
            ("S057 all lines ended by LF", b"GET @P@ HTTP/1.1\nHost: shop.test\n\n"),
            ("S057 request line ended by LF", b"GET @P@ HTTP/1.1\nHost: shop.test\r\n\r\n"),
            ("S057 one field ended by LF", b"GET @P@ HTTP/1.1\r\nHost: shop.test\nX-A: b\r\n\r\n"),
            ("S057 end by LF", b"GET @P@ HTTP/1.1\r\nHost: shop.test\r\n\n"),
            ("S057 second field hidden by LF", get("X-A: b\nX-Forwarded-For: 6.6.6.6")),
        )

    def test_request_lines(self):
        bad_line = [("S062", text) for text in (
            "GET  @P@ HTTP/1.1", "GET @P@  HTTP/1.1", "GET\t@P@ HTTP/1.1", "GET @P@\tHTTP/1.1", "GET @P@ HTTP/1.1 ",
            " GET @P@ HTTP/1.1", "GET @P@ x HTTP/1.1", "GET @P@", "@P@ HTTP/1.1", "GET HTTP/1.1", "G(T @P@ HTTP/1.1",
            "GET\0 @P@ HTTP/1.1", "\x16\x03\x01 @P@ HTTP/1.1")]
        self.check(
            *((f"{case} {line!r}", get(line=line)) for case, line in bad_line),
            *((f"S064 {version}", get(line=f"GET @P@ {version}"), (400, 505))
              for version in ("http/1.1", "HTTP/1.1x", "HTTP/1.10", "HTTP/9.9", "HTTP/2.0", "HTTP/1", "HTTP/01.1",
                              "HTTP/1,1", "HTTP/-1.1", "HTTPS/1.1", "HTTP /1.1", "HTTP/1.2x", "HTTP/0.9")),
        )

    def test_http_2_on_a_plain_port(self):
        """S159"""
        self.check(("S159 prior knowledge", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), (400, 505)),
                   ("S159 TLS hello", bytes.fromhex("1603010200010001fc0303") + bytes(500)))

    def test_targets(self):
        self.check(*((f"{case} {target!r}", get(line=f"GET {target} HTTP/1.1"))
                     for case, target in (
                         ("S066", "@P@#frag"), ("S066", "@P@?a#b"), ("S066", "#"),
                         ("S069", "@P@\xe9"), ("S069", "@P@?q=\xff"), ("S069", "@P@\0"), ("S069", "@P@\x7f"),
                         ("S069", "@P@\x01"), ("S069", "@P@\r"),
                         ("S077", "*"), ("S077", "shop.test:80"), ("S077", "shop.test"), ("S077", "case"),
                         ("S077", "ftp://shop.test@P@"), ("S077", "http:/x"), ("S077", "http://"),
                         ("S077", "http://user@shop.test@P@"), ("S077", "http://shop.test:x@P@"), ("S077", "?q"))))

    def test_hosts(self):
        self.check(
            ("S070 1.1 without Host", get(host=None)),
            ("S071 two, different", get("Host: other.test")),
            ("S071 two, same", get("Host: shop.test")),
            ("S071 two with an absolute target", get("Host: shop.test", line="GET http://shop.test@P@ HTTP/1.1")),
            *((f"S072 {host[:40]!r}", get(host=f"Host: {host}"))
              for host in ("shop.test/path", "user@shop.test", "shop test", "shop.test,evil.test", "shop.test\0",
                           "shop.test?q", "shop.test#f", "shop.test:99999", "shop.test:x", "shop.test:-1",
                           "shop.test:80:80", "shop.test:8 0", "[::1", "::1", "[::1]x", "[zz]", "shop\\test", "shop\xe9",
                           "http://shop.test", "shop.test\"", "<shop>", "a" * 300, "%00", "shop.test%2fevil")),
        )

    def test_methods(self):
        for case, raw in (("S076 CONNECT", lines("CONNECT internal.test:22 HTTP/1.1", "Host: internal.test:22")),
                          ("S078 TRACE", get("Max-Forwards: 5", "Cookie: secret=1", line="TRACE @P@ HTTP/1.1"))):
            with self.subTest(case):
                path, connections = self.path(), self.origin.connections
                client = self.client()
                client.send(raw.replace(b"@P@", path.encode()))
                got = client.read()
                self.assertIn(got.status, (400, 405, 501))
                self.assertNotIn(b"secret", got.body)
                self.assertEqual((self.origin.seen(path), self.origin.connections), ([], connections))


class GoodHeads(SystemTest):
    def seen(self, raw, status=200, path=None):
        """Sends `raw` (@P@ for the path) and returns what the origin got."""
        path = path or self.path()
        self.origin.on(path.split("?")[0], response(200, (), b"ok"))
        client = self.client()
        client.send(raw.replace(b"@P@", path.encode()))
        self.assertEqual(client.read().status, status)
        return self.origin.seen(path.split("?")[0])[-1]

    def test_high_bytes_in_a_value_pass(self):
        """S058"""
        self.assertEqual(self.seen(get("X-A: caf\xe9"))["X-A"], "caf\xe9")

    def test_white_space_around_a_value(self):
        for case, line, want in (("none", "X-A:b", "b"), ("much", "X-A: \t b \t", "b"), ("inside", "X-A: b \t c", "b \t c"),
                                 ("empty", "X-A:", "")):
            with self.subTest(case):
                self.assertEqual(self.seen(get(line))["X-A"], want)

    def test_eight_thousand_octets(self):
        """S061, RFC 9112 §3"""
        value = "v" * 3500
        seen = self.seen(get(f"X-A: {value}", line="GET @P@?" + "q" * 3500 + " HTTP/1.1"))
        self.assertEqual((seen["X-A"], len(seen.target) > 3500), (value, True))

    def test_leading_empty_lines(self):
        """S068, RFC 9112 §2.2"""
        self.seen(b"\r\n" + get())
        client = self.client()
        path = self.path()
        client.send(b"\r\n" * 10_000 + request("GET", path))
        self.assertEqual(client.read().status, 400)
        self.assertTrue(client.closed())
        self.assertEqual(self.origin.seen(path), [])

    def test_hosts(self):
        for host in ("shop.test", "shop.test:8080", "SHOP.test", "127.0.0.1", "[::1]:8080", "[2001:db8::1]", "a-b_c.test",
                     "xn--bcher-kva.test"):
            with self.subTest(host):
                self.assertEqual(self.seen(get(host=f"Host: {host}"))["Host"].lower(), host.lower())

    def test_absolute_form(self):
        """S073, RFC 9112 §3.2.2: the target wins over Host."""
        seen = self.seen(get(line="GET http://target.test@P@ HTTP/1.1", host="Host: other.test"))
        self.assertEqual((seen.fields.all("Host"), seen.target), (["target.test"], seen.path))

    def test_absolute_form_of_the_root(self):
        """S073 (VSV18)"""
        client = self.client()
        self.origin.on("/", response(200, (), b"root"))
        client.send(get(line="GET http://shop.test HTTP/1.1"))
        self.assertEqual(client.read().body, b"root")
        client.send(get(line="GET http://shop.test?q=1 HTTP/1.1"))
        self.assertEqual(client.read().body, b"root")
        self.assertEqual([r.target for r in self.origin.seen("/")][-1], "/?q=1")

    def test_only_the_configured_origin_is_contacted(self):
        """S075"""
        internal = Origin()
        self.addCleanup(internal.stop)
        address = f"127.0.0.1:{internal.address[1]}"
        self.seen(get(line=f"GET http://{address}@P@ HTTP/1.1"))
        self.seen(get(host=f"Host: {address}"))
        self.assertEqual(internal.connections, 0)

    def test_options_star(self):
        """S077"""
        self.origin.on("*", response(200, {"Allow": "GET"}))
        client = self.client()
        client.send(get(line="OPTIONS * HTTP/1.1"))
        self.assertIn(client.read().status, (200, 204))

    def test_max_forwards(self):
        """RFC 9110 §7.6.2"""
        path = self.path()
        self.origin.on(path, response(200, {"Allow": "GET"}))
        self.assertIn(self.ask("OPTIONS", path, {"Max-Forwards": "0"}).status, (200, 204))
        self.assertEqual(self.origin.seen(path), [])
        self.ask("OPTIONS", path, {"Max-Forwards": "3"})
        self.assertEqual(self.origin.seen(path)[0]["Max-Forwards"], "2")

    def test_unknown_methods_pass(self):
        for method in ("PROPFIND", "M-SEARCH", "QUERY", "get"):
            with self.subTest(method):
                self.assertEqual(self.seen(get(line=f"{method} @P@ HTTP/1.1")).method, method)

    def test_http_1_0_without_host(self):
        self.assertEqual(self.seen(get(line="GET @P@ HTTP/1.0", host=None)).version, "HTTP/1.1")

    def test_order_and_repetition_of_fields_are_kept(self):
        seen = self.seen(get("X-A: 1", "X-B: 2", "X-A: 3", "x-a: 4"))
        self.assertEqual(seen.fields.all("X-A"), ["1", "3", "4"])


class Forwarding(SystemTest):
    """What a client says about itself is overwritten, unless it is a trusted proxy."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  trusting: { address: "127.0.0.1:0", trusted_proxies: [127.0.0.0/8] }
  underscores: { address: "127.0.0.1:0", underscore_names: true }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""
    LIES = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.test",
            "Forwarded": "for=6.6.6.6;host=evil.test;proto=https", "X-Request-Id": "not\tquite one", "Via": "1.0 evil"}

    def seen(self, listener, fields):
        path = self.path()
        self.origin.on(path, response(200, (), b"ok"))
        with Client(self.etagere.listeners[listener]) as client:
            got = client.ask("GET", path, fields)
        self.assertEqual(got.status, 200)
        return self.origin.seen(path)[0], got

    def test_strangers_are_not_believed(self):
        """S192, S048, S106"""
        for case, fields in (("nothing sent", {}), ("lies", self.LIES),
                             ("lies that ask to be dropped", {**self.LIES, "Connection": ", ".join(self.LIES)})):
            with self.subTest(case):
                seen, got = self.seen("ingress", fields)
                self.assertEqual(seen.fields.all("X-Forwarded-For"), ["127.0.0.1"])
                self.assertEqual(seen.fields.all("X-Forwarded-Proto"), ["http"])
                self.assertEqual(seen.fields.all("X-Forwarded-Host"), ["shop.test"])
                self.assertNotIn("evil", (seen["Forwarded"] or "") + (seen["X-Forwarded-Server"] or ""))
                self.assertIn("1.1 etagere", seen["Via"])
                self.assertRegex(seen["X-Request-Id"], r"\A[!-~]{8,}\Z")
                self.assertIn("1.1 etagere", got["Via"])

    def test_trusted_proxies_are_believed(self):
        seen, _ = self.seen("trusting", {**self.LIES, "X-Request-Id": "abc-123"})
        self.assertEqual(seen["X-Forwarded-For"], "6.6.6.6, 127.0.0.1")
        self.assertEqual((seen["X-Forwarded-Proto"], seen["X-Forwarded-Host"]), ("https", "evil.test"))
        self.assertEqual(seen["X-Request-Id"], "abc-123")
        self.assertIn("1.0 evil, 1.1 etagere", seen["Via"])

    def test_fields_that_only_harm(self):
        """S192, S194, CVE-2016-5385 and rails-and-go §5: dropped whoever sends them."""
        for name in ("Proxy", "X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override", "X-Method-Override",
                     "X-HTTP-Method", "X-Sendfile-Type", "X-Accel-Mapping", "X-Forwarded-Port", "X-Forwarded-Prefix",
                     "X-Forwarded-Server", "X_Forwarded_Host", "X_User"):
            with self.subTest(name):
                seen, _ = self.seen("ingress", {name: "evil.test"})
                self.assertNotIn("evil.test", seen[name] or "")

    def test_underscore_names_by_listener(self):
        """B48"""
        self.assertEqual(self.seen("underscores", {"X_User": "1"})[0]["X_User"], "1")
        self.assertNotIn("X_User", self.seen("ingress", {"X_User": "1"})[0].fields)


if __name__ == "__main__":
    unittest.main()
