"""The admin listener, metrics and the access log (catalogue S270-S277)."""

import json
import re
import signal
import unittest

from harness import Client, SystemTest, request, response, run_cli, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class Admin(SystemTest):
    def admin(self, method, target, fields=(), body=None):
        with Client(self.etagere.admin) as client:
            return client.ask(method, target, fields, body)

    def test_health(self):
        for target in ("/livez", "/readyz"):
            for method in ("GET", "HEAD"):
                self.assertEqual(self.admin(method, target).status, 200)
        told = json.loads(self.admin("GET", "/readyz?verbose").body)
        self.assertEqual((told["status"], {check["ok"] for check in told["checks"]}), ("ready", {True}))

    def test_everything_else_is_not_there(self):
        for method, target, status in (("GET", "/", {404}), ("GET", "/nothing", {404}), ("POST", "/metrics", {403, 405}),
                                       ("DELETE", "/livez", {403, 405}), ("GET", "//livez", {404}), ("GET", "/livez/../metrics", {404}),
                                       ("GET", "/metricsx", {404})):
            with self.subTest(method + target):
                self.assertIn(self.admin(method, target, (), b"" if method == "POST" else None).status, status)

    def test_not_on_the_public_listener(self):
        """S271"""
        for target in ("/livez", "/readyz", "/metrics"):
            self.origin.on(target, response(200, (), b"the application's own"))
            self.assertEqual(self.get(target).body, b"the application's own")

    def test_public_admin_needs_a_token(self):
        """S270"""
        config = self.CONFIG.replace('admin: { address: "127.0.0.1:0"', 'admin: { address: "0.0.0.0:0"')
        code, _, problems = run_cli("check", "/dev/stdin", stdin=config.replace("@ORIGIN@", "http://127.0.0.1:1"))
        self.assertEqual(code, 3, problems)
        config = config.replace("role: admin }", "role: admin, token: a-long-enough-token }")
        code, _, problems = run_cli("check", "/dev/stdin", stdin=config.replace("@ORIGIN@", "http://127.0.0.1:1"))
        self.assertEqual(code, 0, problems)

    def test_hostile_requests(self):
        """The admin listener reads HTTP as strictly as the public one."""
        with Client(self.etagere.admin) as client:
            client.send(b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
            self.assertEqual(client.read().status, 400)
            self.assertTrue(client.closed())
        with Client(self.etagere.admin) as client:
            client.send(request("GET", "/livez") * 3)
            self.assertEqual([client.read().status for _ in range(3)], [200] * 3)

    def test_metrics_format(self):
        """Prometheus text: every family has HELP and TYPE, every line parses, counters end in _total."""
        self.get(self.path())
        got = self.admin("GET", "/metrics")
        self.assertIn("text/plain", got["Content-Type"])
        families, kinds = set(), {}
        for line in got.body.decode().splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertNotIn(name, kinds)
                kinds[name] = kind
            elif not line.startswith("#"):
                found = re.fullmatch(r'([a-z_][a-z0-9_]*)(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})? \S+', line)
                self.assertTrue(found, line)
                float(line.rpartition(" ")[2])
                families.add(re.sub("_(bucket|sum|count)$", "", found[1]) if found[1] not in kinds else found[1])
        self.assertLessEqual(families, set(kinds))
        for name, kind in kinds.items():
            self.assertTrue(name.startswith("etagere_"))
            self.assertEqual(kind == "counter", name.endswith("_total"), name)

    def test_metrics_count(self):
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "ETag": '"v1"'}, b"body"))

        def numbers():
            m = self.etagere.metric
            return (m("etagere_http_requests_total", route="all", code="2xx"), m("etagere_http_requests_total", route="all", code="3xx"),
                    m("etagere_cache_decisions_total", route="all", reason="hit_fresh"),
                    m("etagere_cache_decisions_total", route="all", reason="miss_cold"),
                    m("etagere_cache_decisions_total", route="all", reason="hit_not_modified"),
                    m("etagere_upstream_requests_total", upstream="app"))
        before = numbers()
        self.get(path)
        self.get(path)
        self.get(path, {"If-None-Match": '"v1"'})
        want = tuple(b + d for b, d in zip(before, (2, 1, 1, 1, 1, 1)))
        wait_until(lambda: numbers() == want, f"the counters to say {want}")

    def test_labels_never_come_from_requests(self):
        """S276"""
        def hostile(number):
            self.get(f"/label-{number}", {"Host": f"h{number}.test", "User-Agent": f"u{number}"})
            self.ask(f"METHOD{number}", f"/label-{number}")
        hostile(0)
        wait_until(lambda: self.etagere.metric("etagere_http_requests_total", route="all") >= 2, "the requests to be counted")
        before = len(self.etagere.metrics())
        for number in range(1, 50):
            hostile(number)
        self.etagere.access("/label-49", 2)
        self.assertLessEqual(len(self.etagere.metrics()), before + 20)       # buckets that had no sample yet
        text = self.admin("GET", "/metrics").body.decode()
        for needle in ("label-", "h7.test", "u7", "METHOD7"):
            self.assertNotIn(needle, text)


class AccessLog(SystemTest):
    CONFIG = SystemTest.CONFIG + "workers: 1\n"              # lines of several workers have no order among themselves

    def test_members(self):
        path = self.path()
        self.origin.on(path, response(200, {**FRESH, "ETag": '"v1"'}, b"body"))
        self.get(path + "?q=1", {"User-Agent": "a-client"})
        self.get(path + "?q=1", {"If-None-Match": '"v1"'})
        miss, hit = self.etagere.access(path, 2)[:2]
        self.assertEqual([miss[k] for k in ("msg", "listener", "route", "client_ip", "method", "host", "path", "query", "protocol",
                                            "status", "cache", "reason", "user_agent", "upstream", "upstream_status", "etag_out")],
                         ["request", "ingress", "all", "127.0.0.1", "GET", "shop.test", path, "q=1", "HTTP/1.1",
                          200, "miss", "miss_cold", "a-client", "app", 200, '"v1"'])
        self.assertEqual([hit[k] for k in ("status", "cache", "reason", "not_modified", "etag_in", "etag_out")],
                         [304, "hit", "hit_not_modified", True, '"v1"', '"v1"'])
        self.assertNotIn("upstream", hit)
        self.assertGreater(miss["bytes_out"], hit["bytes_out"])
        self.assertRegex(miss["ts"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
        self.assertEqual(miss["request_id"], self.origin.seen(path)[0]["X-Request-Id"])

    def test_hostile_text_stays_in_its_line(self):
        """S277: one valid line a request, whatever it holds."""
        path = self.path()
        self.origin.on(path, response(200, (), b"x"))
        agents = ['quote " and \\', "\x1b[31mred", "caf\xe9", "a\tb", "</script>", '","status":200,"x":"', "\u2028".encode().decode("latin-1")]
        for agent in agents:
            self.get(path, {"User-Agent": agent})
        records = self.etagere.access(path, sum("\x1b" not in a for a in agents))
        self.assertTrue(all(r["status"] == 200 and r["path"] == path for r in records))
        self.assertEqual(records[0]["user_agent"], agents[0])

    def test_refused_requests_are_logged(self):
        with self.etagere.client() as client:
            client.send(b"GET /refused HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n")
            self.assertEqual(client.read().status, 400)
        record = self.etagere.wait_log(msg="request", status=400)
        self.assertEqual(record["reason"], "refused")

    def test_origin_failure_says_why(self):
        path = self.path()
        self.origin.on(path, lambda e: e.close())
        self.assertEqual(self.get(path).status, 502)
        [record] = self.etagere.access(path)
        self.assertEqual((record["reason"], record["level"], bool(record["error"])), ("failed", "error", True))

    def test_no_lines_that_are_not_json(self):
        self.get(self.path())
        self.assertEqual(self.etagere.other_lines, [])


class RackCacheLog(SystemTest):
    """`format: rack_cache`: the words that people of the original article know."""

    CONFIG = SystemTest.CONFIG + "observability: { access_log: { format: rack_cache } }\nworkers: 1\n"

    def test_words(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(304 if e.request["If-None-Match"] == '"v1"' else 200,
                                                {"Cache-Control": "public", "ETag": '"v1"'},
                                                b"" if e.request["If-None-Match"] == '"v1"' else b"body"))
        self.ask("HEAD", path)
        self.get(path)
        self.origin.on(path, response(200, FRESH, b"new"))
        self.get(path)
        self.get(path)
        self.ask("POST", path, (), b"x")
        words = [f"cache: [HEAD {path}] miss, store", f"cache: [GET {path}] stale, valid, store",
                 f"cache: [GET {path}] stale, invalid, store", f"cache: [GET {path}] fresh", f"cache: [POST {path}] invalidate, pass"]
        wait_until(lambda: len([l for l in self.etagere.other_lines if path in l]) >= 5, "five lines")
        self.assertEqual([l for l in self.etagere.other_lines if path in l], words)


class AdminToken(SystemTest):
    """S270, S272: with a token, health stays open and the rest does not."""

    CONFIG = SystemTest.CONFIG.replace("role: admin }", "role: admin, token: a-long-enough-token }")

    def test_token(self):
        for target, fields, status in (
            ("/livez", {}, 200), ("/readyz", {}, 200), ("/metrics", {}, 401),
            ("/metrics", {"Authorization": "Bearer wrong"}, 401), ("/metrics", {"Authorization": "a-long-enough-token"}, 401),
            ("/metrics", {"Authorization": "Bearer a-long-enough-token"}, 200),
            ("/metrics", {"Authorization": "bearer a-long-enough-token"}, 200)):
            with self.subTest(target, fields=fields):
                with Client(self.etagere.admin) as client:
                    self.assertEqual(client.ask("GET", target, fields).status, status)


class MetricsOff(SystemTest):
    """observability.metrics: off. No page, everything else as ever; on and off change with a restart only."""

    CONFIG = SystemTest.CONFIG + "observability:\n  metrics: off\n"

    def admin(self, target):
        with Client(self.etagere.admin) as client:
            return client.ask("GET", target)

    def test_no_page(self):
        self.assertEqual(self.get(self.path()).status, 404)
        self.assertEqual(self.admin("/metrics").status, 404)
        for target in ("/livez", "/readyz"):
            self.assertEqual(self.admin(target).status, 200)

    def test_requests_are_answered_and_logged(self):
        path = self.path()
        self.origin.on(path, response(200, FRESH, b"kept"))
        for _ in range(2):
            self.assertEqual(self.get(path).body, b"kept")
        # Lines of two workers come in any order.
        self.assertCountEqual([line["cache"] for line in self.etagere.access(path, count=2)], ["miss", "hit"])

    def test_a_reload_does_not_switch_them_on(self):
        self.etagere.write_config(SystemTest.CONFIG + "observability:\n  metrics: { path: /m }\n")
        self.etagere.signal(signal.SIGHUP)
        self.etagere.wait_log(event="reload_ignored")
        self.etagere.wait_log(event="reloaded")
        self.assertEqual(self.admin("/m").status, 404)


if __name__ == "__main__":
    unittest.main()
