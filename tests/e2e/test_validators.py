"""The validator layer before real origins: Rails behind nginx's gzip, Rails with Rack::Deflater, net/http of Go.

Prints what it measured at the end: the table of src/docs/validators.md.
"""

import json
import unittest

from e2e import EndToEnd, Go, Nginx, Rails, hostname, wait_until

rails = deflating = nginx = go = None
measured = []

CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  rails: { endpoints: ["@RAILS@"] }
  nginx: { endpoints: ["@NGINX@"] }
  deflating: { endpoints: ["@DEFLATING@"] }
  go: { endpoints: ["@GO@"] }
stores:
  default: @STORE@
routes:
""" + "".join(f"""
  - {{ name: {upstream}-{kind}, match: {{ host: {upstream}.{kind}.test }}, upstream: {upstream}, etag: {{ {etag} }},
      cache: {{ private: revalidate }} }}
""" for upstream in ("rails", "nginx", "deflating", "go")
    for kind, etag in (("plain", "repair: []"), ("repaired", "repair: [quotes, weak_prefix, suffix]"),
                       ("audited", "audit: 100%"), ("defaults", "repair: [quotes]")))

TIMES = 20
GZIP = {"Accept-Encoding": "gzip"}


def setUpModule():
    global rails, deflating, nginx, go
    rails, deflating, go = Rails(), Rails(deflater="outside"), Go()
    nginx = Nginx(rails.url)


def tearDownModule():
    for app in (nginx, rails, deflating, go):
        app.stop()
    print("\n| way | page | accepts | repair | Rails' tag | as stored | 304s of Rails | renders |\n|---|---|---|---|---|---|---|---|")
    for way, page, accepts, route, own, stored, hits, renders in measured:
        print(f"| {way} | `{page}` | {accepts} | {'on' if route == 'repaired' else 'off'} | `{own}` | `{stored}` | "
              f"{hits} of {TIMES} | {renders} |")


def form(tag):
    """The shape of a tag: "…", W/"…", with its suffix."""
    return (tag or "none").partition('"')[0] + ('"…"' if tag else "none")


class Validators(EndToEnd):
    CONFIG = CONFIG

    @classmethod
    def values(cls):
        return {"RAILS": rails.url, "NGINX": nginx.url, "DEFLATING": deflating.url, "GO": go.url}

    def setUp(self):
        self.number = self.page()

    def validations(self, upstream, kind, path, app, fields=()):
        """Asks for a page once, and then TIMES times. How many of these the origin answered 304, and how often it has
        rendered for them."""
        client, target = self.client(), f"{path}?page={self.number}"
        own = app.ask("GET", target)["ETag"]
        accepts = dict(fields).get("Accept-Encoding", "identity")
        fields = hostname(f"{upstream}.{kind}.test", fields)
        first = client.get(target, fields)
        self.assertEqual(first.status, 200)
        before = app.counters()["renders"]
        confirmed = 0
        for _ in range(TIMES):
            answer = client.get(target, fields)
            self.assertSame(answer, 200, first.body)
            confirmed += answer.cache.get("fwd-status") == "304"
        renders = app.counters()["renders"] - before
        measured.append((upstream, path, accepts, kind, form(own), form(first["ETag"]), confirmed, renders))
        return first, confirmed, renders

    # ------------------------------------------------------------ nginx's gzip in between

    def test_a_strong_tag_behind_nginx_is_never_confirmed_without_repair(self):
        first, confirmed, renders = self.validations("nginx", "plain", "/strong/products", rails, GZIP)
        self.assertEqual((first["Content-Encoding"], first["ETag"][:3]), ("gzip", 'W/"'))
        self.assertEqual((confirmed, renders), (0, TIMES))

    def test_and_always_with_it(self):
        first, confirmed, renders = self.validations("nginx", "repaired", "/strong/products", rails, GZIP)
        self.assertEqual((first["Content-Encoding"], first["ETag"][:3]), ("gzip", 'W/"'))
        self.assertEqual((confirmed, renders), (TIMES, 0))
        # The tag that went out is the one that a client comes back with.
        got = self.client().get(f"/strong/products?page={self.number}",
                                hostname("nginx.repaired.test", {**GZIP, "If-None-Match": first["ETag"]}))
        self.assertEqual((got.status, got["ETag"]), (304, first["ETag"]))

    def test_a_change_is_seen_with_repair_too(self):
        client, target = self.client(), f"/strong/products?page={self.number}"
        fields = hostname("nginx.repaired.test", GZIP)
        first = client.get(target, fields)
        self.assertSame(client.get(target, fields), 200, first.body, "revalidated")
        rails.change(self.number, price_cents=4711)
        changed = client.get(target, fields)
        self.assertSame(changed, 200, why="revalidated_changed")
        self.assertNotEqual(changed.body, first.body)
        self.assertSame(client.get(target, fields), 200, changed.body, "revalidated")

    def test_weak_tags_pass_nginx_as_they_are(self):
        for kind in ("plain", "repaired"):
            with self.subTest(kind):
                _, confirmed, renders = self.validations("nginx", kind, "/api/products", rails, GZIP)
                self.assertEqual((confirmed, renders), (TIMES, 0))

    def test_nginx_without_compression_changes_nothing(self):
        _, confirmed, renders = self.validations("nginx", "plain", "/strong/products", rails)
        self.assertEqual((confirmed, renders), (TIMES, 0))

    # ------------------------------------------------------------ Rack::Deflater

    def test_rack_deflater_keeps_tags(self):
        for path in ("/api/products", "/strong/products"):
            for kind in ("plain", "repaired"):
                with self.subTest(path, kind=kind):
                    first, confirmed, renders = self.validations("deflating", kind, path, deflating, GZIP)
                    self.assertEqual(first["Content-Encoding"], "gzip")
                    self.assertEqual((confirmed, renders), (TIMES, 0))

    def test_both_codings_under_one_tag_are_kept_apart(self):
        client, target = self.client(), f"/strong/products?page={self.number}"
        plain = deflating.ask("GET", target)
        for _ in range(3):
            zipped = client.get(target, hostname("deflating.plain.test", GZIP))
            self.assertEqual((zipped["Content-Encoding"], zipped["ETag"]), ("gzip", plain["ETag"]))
            self.assertSame(client.get(target, hostname("deflating.plain.test", {"Accept-Encoding": "identity"})), 200,
                            plain.body)

    # ------------------------------------------------------------ clients' own tags

    def newer(self, client, app, host, target, change):
        """A stored page that has changed; a client that has the new one already. What a request of his costs."""
        client.get(target, host)
        client.get(target, host)
        change()
        fresh = app.ask("GET", target)
        before = app.counters()["renders"]
        got = client.get(target, {**host, "If-None-Match": fresh["ETag"]})
        self.assertSame(got, 304, b"")
        self.assertEqual(got["ETag"], fresh["ETag"])
        renders = app.counters()["renders"] - before
        self.assertSame(client.get(target, host), 200, fresh.body)
        return renders

    def test_stale_of_rails_reads_lists(self):
        renders = self.newer(self.client(), rails, hostname("rails.plain.test"), f"/api/products?page={self.number}",
                             lambda: rails.change(self.number, price_cents=1))
        self.assertEqual(renders, 0)

    def test_go_reads_lists(self):
        go.ask("PUT", "/file?v=1")
        self.newer(self.client(), go, hostname("go.plain.test"), "/file", lambda: go.ask("PUT", "/file?v=2"))

    def test_rack_etag_does_not_and_that_is_learned_once(self):
        """Rack::ConditionalGet compares strings: a list costs its 304, so it gets one list, not one a request."""
        client, target = self.client(), f"/defaults/products?page={self.number}"
        host = hostname("rails.defaults.test")
        client.get(target, host)
        confirmed = [client.get(target, {**host, "If-None-Match": '"another"'}).cache.get("fwd-status")
                     for _ in range(10)]
        self.assertEqual(confirmed, ["200"] + ["304"] * 9)

    # ------------------------------------------------------------ the audit

    def audited(self, result):
        return self.etagere.metric("etagere_etag_audit_total", route="rails-audited", result=result)

    def audit(self, path, result, times=5):
        client, target, host = self.client(), f"{path}?page={self.number}", hostname("rails.audited.test")
        client.get(target, host)
        for number in range(1, times + 1):
            before = self.audited(result)
            self.assertEqual(client.get(target, host).cache.get("fwd-status"), "304")
            wait_until(lambda: self.audited(result) == before + 1, f"{number} × {result} of {path}")
        return client, target, host

    def test_tags_that_tell_the_truth(self):
        others = self.audited("wrong_304") + self.audited("churn")
        self.audit("/strong/products", "true")
        self.assertEqual(self.audited("wrong_304") + self.audited("churn"), others)

    def test_a_tag_that_lies(self):
        client, target, host = self.audit("/lying/products", "wrong_304")
        event = self.etagere.wait_log(event="wrong_304", route="rails-audited")
        self.assertNotEqual(event["stored_sha256"], event["origin_sha256"])
        self.assertNotIn("/lying", json.dumps(event))
        # What was found out is what is served from now on.
        rendered = json.loads(client.get(target, host).body)["rendered"]
        self.assertGreaterEqual(rendered, rails.renders - 2)

    def test_a_tag_that_churns(self):
        self.audit("/churning/products", "churn")


if __name__ == "__main__":
    unittest.main()
