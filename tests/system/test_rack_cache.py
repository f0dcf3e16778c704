"""For people who come from Rack::Cache: `etagere import rack-cache`, and the rows of src/docs/rack-cache.md that no
other test shows. That the log has Rack::Cache's own words is shown beside the real one: tests/e2e/test_rack_cache_words.py.
"""

import os
import re
import tempfile
import threading
import unittest

from harness import Etagere, Origin, SystemTest, past, request, run_cli, steps, validating, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "src", "docs", "rack-cache.md")

# As they stand in applications: (file, text, lines that the configuration has, words of the warnings).
SAMPLES = {
    "the README of Rack::Cache": ("config.ru", """require 'rack/cache'

use Rack::Cache,
  metastore:    'file:/var/cache/rack/meta',
  entitystore:  'file:/var/cache/rack/body',
  verbose:      true

run app
""", ["memory: { size: 64MiB }", "access_log: { format: rack_cache }"], ["no store on disk"]),
    "old hashes and a block": ("config.ru", """use Rack::Cache, :verbose => false do
  set :default_ttl, 10.minutes
  set :metastore => "memcached://10.0.0.5:11211/meta", :entitystore => "memcached://10.0.0.5:11211/body"
end
""", ["servers: \"10.0.0.5:11211\"", "lifetime: { default: 600s }", "access_log: { format: json }"], []),
    "Rails with memcached": ("production.rb", """Rails.application.configure do
  config.cache_classes = true
  # config.action_dispatch.rack_cache = true
  config.action_dispatch.rack_cache = {
    metastore:   "memcached://#{ENV['MEMCACHED_HOST']}:11211/meta",
    entitystore: "memcached://#{ENV['MEMCACHED_HOST']}:11211/body",
    allow_reload: true, allow_revalidate: true,
    private_headers: %w[Authorization Cookie X-Api-Key],
    fault_tolerant: true
  }
end
""", ["servers: \"${MEMCACHED_HOST:-127.0.0.1}:11211\"", "client_directives: honour",
      "key: { headers: [X-Api-Key], query: { sort: true } }", "stale: { if_error: 1d }"], []),
    "Heroku": ("production.rb", """client = Dalli::Client.new((ENV["MEMCACHIER_SERVERS"] || "").split(","),
                           :username => ENV["MEMCACHIER_USERNAME"],
                           :password => ENV["MEMCACHIER_PASSWORD"],
                           :failover => true, :socket_timeout => 1.5, :value_max_bytes => 10485760)
config.action_dispatch.rack_cache = {
  :metastore    => client,
  :entitystore  => client
}
""", ["servers: \"${MEMCACHIER_SERVERS:-127.0.0.1:11211}\""], ["without user and password"]),
    "code": ("config.ru", """use Rack::Cache,
  cache_key: ->(request) { Digest::SHA1.hexdigest(request.fullpath) },
  storage: Shop::Storage.new,
  colour: :red
Rack::Cache::Key.query_string_ignore = proc { |k, v| k =~ /^(utm|trk)_/ }
""", ["# cache_key: ->(request)", "# storage: Shop::Storage.new", "# colour: :red"],
             ["cache_key: not translated", "storage: not translated", "colour: not translated",
              "query_string_ignore: not translated"]),
    "ignored parameters": ("config.ru", """use Rack::Cache
Rack::Cache::Key.query_string_ignore = proc { |k, v| k =~ /^(utm|trk)_/ }
""", ["key: { query: { sort: true, ignore: [\"utm_*\", \"trk_*\"] } }"], []),
    "true": ("application.rb", "config.action_dispatch.rack_cache = true\n", ["memory: { size: 64MiB }"],
             ["Rails.cache is not known here"]),
}


def run_import(name, text, *, stdin=False):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return run_cli("import", "rack-cache", "-", stdin=text) if stdin else run_cli("import", "rack-cache", path)


def configuration(options, origin):
    """The imported configuration on free ports, in front of `origin`; with étagère's own log."""
    code, out, err = run_import("config.ru", options)
    if code:
        raise AssertionError(err)
    listen = 'listeners: { ingress: { address: "127.0.0.1:0" }, admin: { address: "127.0.0.1:0", role: admin } }'
    return out.replace('listen: ":8080"', listen).replace("http://127.0.0.1:3000", origin.url).replace(
        "format: rack_cache", "format: json")


class Import(unittest.TestCase):
    def test_samples(self):
        for name, (file, text, lines, warnings) in SAMPLES.items():
            for stdin in (False, True):
                with self.subTest(name, stdin=stdin):
                    code, out, err = run_import(file, text, stdin=stdin)
                    self.assertEqual(code, 0, err)
                    for line in lines:
                        self.assertIn(line, out)
                    self.assertEqual(bool(err), bool(warnings), err)
                    for warning in warnings:
                        self.assertIn(warning, err)
                    for line in err.splitlines():
                        self.assertRegex(line, r"^warning: .*(config\.ru|production\.rb|application\.rb|standard input):\d+: ")
                    checked, report, problems = run_cli("check", "/dev/stdin", stdin=out)
                    self.assertEqual((checked, "error" in report), (0, False), report + problems)

    def test_nothing_found(self):
        for name, text in (("no Rack::Cache", "run App\n"), ("only a comment", "# use Rack::Cache\n"),
                           ("switched off", "config.action_dispatch.rack_cache = false\n"),
                           ("bytes", "\0\1\2\3"), ("too large", "#" * 300_000 + "\nuse Rack::Cache\n")):
            with self.subTest(name):
                code, out, err = run_import("config.ru", text)
                self.assertEqual((code, out), (1, ""))
                self.assertIn("no options of Rack::Cache", err)

    def test_files_that_cannot_be_read(self):
        for path in ("/nowhere/config.ru", "/proc", "/dev/null"):
            with self.subTest(path):
                code, out, err = run_cli("import", "rack-cache", path)
                self.assertEqual((code, out), (1, ""))
                self.assertIn(path, err)

    def test_usage(self):
        for arguments in (("import",), ("import", "rack-cache"), ("import", "varnish", "x"), ("import", "rack-cache", "a", "b")):
            with self.subTest(arguments):
                self.assertEqual(run_cli(*arguments)[0], 2)


class Imported(unittest.TestCase):
    """What imported options do."""

    def serve(self, options):
        origin = Origin()
        self.addCleanup(origin.stop)
        etagere = Etagere(configuration(options, origin))
        self.addCleanup(etagere.stop)
        return origin, etagere

    def ask(self, etagere, target, fields=(), method="GET"):
        with etagere.client() as client:
            return client.ask(method, target, fields)

    def test_fault_tolerant(self):
        origin, etagere = self.serve("use Rack::Cache, fault_tolerant: true\n")
        old = {"Date": past(20), "ETag": '"v1"'}
        for path, directives, answer, status in (
                ("/closes", "max-age=9", lambda e: e.close(), 200),
                ("/fails", "max-age=9", lambda e: e.answer(503, (), b"no"), 200),
                ("/forbids", "max-age=9, must-revalidate", lambda e: e.close(), 504),
                ("/says-no", "max-age=9", lambda e: e.answer(404, (), b"gone"), 404)):
            with self.subTest(path):
                origin.on(path, lambda e, d=directives: e.answer(200, {**old, "Cache-Control": d}, b"kept"))
                self.assertEqual(self.ask(etagere, path).why, "miss_cold")
                origin.on(path, answer)
                got = self.ask(etagere, path)
                self.assertEqual(got.status, status)
                if status == 200:
                    self.assertEqual((got.body, got.why), (b"kept", "hit_stale_error"))

    def test_without_fault_tolerant(self):
        origin, etagere = self.serve("use Rack::Cache\n")
        origin.on("/x", lambda e: e.answer(200, {"Date": past(20), "ETag": '"v1"', "Cache-Control": "max-age=9"}, b"x"))
        self.assertEqual(self.ask(etagere, "/x").status, 200)
        origin.on("/x", lambda e: e.close())
        self.assertEqual(self.ask(etagere, "/x").status, 502)

    def test_a_private_header_has_answers_of_its_own(self):
        origin, etagere = self.serve("use Rack::Cache, private_headers: %w[Authorization Cookie X-Api-Key]\n")
        origin.on("/x", lambda e: e.answer(200, {"Cache-Control": "max-age=60"}, (e.request["X-Api-Key"] or "-").encode()))
        for _ in range(2):
            for key in ("a", "b"):
                self.assertEqual(self.ask(etagere, "/x", {"X-Api-Key": key}).body, key.encode())
            self.assertEqual(self.ask(etagere, "/x").body, b"-")
        self.assertEqual(origin.hits("/x"), 3)

    def test_ignored_parameters_and_their_order(self):
        origin, etagere = self.serve(SAMPLES["ignored parameters"][1])
        origin.on("/x", lambda e: e.answer(200, {"Cache-Control": "max-age=60"}, b"x"))
        for query in ("?a=1&b=2", "?b=2&a=1", "?b=2&a=1&utm_source=mail", "?trk_id=7&a=1&b=2"):
            self.assertEqual(self.ask(etagere, "/x" + query).status, 200)
        self.assertEqual(origin.hits("/x"), 1)
        self.ask(etagere, "/x?a=1&b=2&other=3")
        self.assertEqual(origin.hits("/x"), 2)

    def test_default_ttl(self):
        origin, etagere = self.serve("use Rack::Cache, default_ttl: 60\n")
        for path, fields, hits in (("/silent", {}, 1), ("/old", {"Date": past(90), "ETag": '"v1"'}, 2),
                                   ("/said", {"Cache-Control": "max-age=0", "ETag": '"v1"'}, 2)):
            with self.subTest(path):
                origin.on(path, lambda e, f=fields: e.answer(200, f, b"x"))
                for _ in range(2):
                    self.assertEqual(self.ask(etagere, path).status, 200)
                self.assertEqual(origin.hits(path), hits)


class Streaming(SystemTest):
    def test_a_slow_body_streams_and_is_kept(self):
        """Rack::Cache collects the body first."""
        path, more = self.path(), threading.Event()
        self.origin.on(path, steps(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n\r\nabc", more,
                                   b"def"))
        client = self.client()
        client.send(request("GET", path))
        self.assertEqual(client.read_final_head().status, 200)
        self.assertEqual(client.reader.exactly(3, "the first part"), b"abc")
        more.set()
        self.assertEqual(client.reader.exactly(3, "the rest"), b"def")
        wait_until(lambda: self.get(path).why == "hit_fresh", "the answer to be kept")
        self.assertEqual(self.get(path).body, b"abcdef")
        self.assertEqual(self.origin.hits(path), 1)


class WordsOfOurOwn(SystemTest):
    """Where Rack::Cache has no word, the reason stands in the line."""

    CONFIG = SystemTest.CONFIG + "observability: { access_log: { format: rack_cache } }\nworkers: 1\n"

    def line(self, path, number):
        with self.etagere.changed:
            self.etagere.changed.wait_for(lambda: len(self.lines(path)) > number, 10)
            return self.lines(path)[number].partition("] ")[2]

    def lines(self, path):
        return [line for line in self.etagere.other_lines if f" {path}]" in line]

    def test_stale_while_it_is_asked(self):
        path = self.path()
        self.origin.on(path, validating('"v1"', b"x", {"Cache-Control": "max-age=9, stale-while-revalidate=99",
                                                       "Date": past(20)}))
        self.get(path)
        self.assertEqual(self.get(path).why, "hit_stale_revalidating")
        self.assertEqual(self.line(path, 1), "stale")

    def test_an_origin_that_is_gone(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {"Cache-Control": "max-age=9, stale-if-error=99", "Date": past(20),
                                                      "ETag": '"v1"'}, b"x"))
        self.get(path)
        self.origin.on(path, lambda e: e.close())
        self.assertEqual(self.get(path).status, 200)
        self.assertEqual(self.line(path, 1), "stale, connnection_failed")
        self.origin.on(path, lambda e: e.answer(500, (), b"no"))
        self.assertEqual(self.get(path).status, 200)
        self.assertEqual(self.line(path, 2), "stale")

    def test_what_is_no_http(self):
        path = self.path()
        client = self.client()
        client.send(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        self.assertEqual(client.read().status, 400)
        self.assertEqual(self.line(path, 0), "refused")

    def test_nothing_to_answer_with(self):
        path = self.path()
        self.origin.on(path, lambda e: e.close())
        self.assertEqual(self.get(path).status, 502)
        self.assertEqual(self.line(path, 0), "failed")

    def test_a_body_that_is_too_large(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {"Cache-Control": "max-age=60"}, b"x" * (5 << 20)))
        self.assertEqual(len(self.get(path).body), 5 << 20)
        self.assertEqual(self.line(path, 0), "miss")


class Table(unittest.TestCase):
    """src/docs/rack-cache.md says for each row which test shows it."""

    def test_every_test_that_is_named_is_there(self):
        with open(TABLE, encoding="utf-8") as file:
            text = file.read()
        words = self.read("tests/e2e/test_rack_cache_words.py")
        rows, named = 0, 0
        for line in text.splitlines():
            if not line.startswith("| ") or line.count("|") < 4:
                continue
            rows += 1
            shown = line.split("|")[-2]
            cases = re.findall(r"“([^”]+)”", shown)
            tests = re.findall(r"`((?:tests/)?[\w/.-]+\.(?:py|cpp|conv))(?: ([\w.]+))?`", shown)
            for case in cases:
                self.assertIn(f'("{case}"', words, line)
            for path, name in tests:
                content = self.read(path)
                if name:
                    self.assertIn(name.split(".")[-1], content, line)
            named += bool(cases or tests)
        self.assertEqual(rows - named, text.count("| shown by |"), "a row without a test")
        self.assertGreater(named, 60)

    def read(self, path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main()
