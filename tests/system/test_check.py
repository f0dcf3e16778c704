"""`etagere check` (catalogue S280-S288, bug case B124): what is wrong is refused, with its place and the right word."""

import time
import unittest

from harness import run_cli

GOOD = """version: 1
listen: "127.0.0.1:8080"
upstream: http://127.0.0.1:3000
store: memory
"""


class Check(unittest.TestCase):
    def check(self, text, env=None):
        code, out, err = run_cli("check", "/dev/stdin", stdin=text, env=env)
        return code, out + err

    def test_good(self):
        for case, text in (("four lines", GOOD), ("variable with default", GOOD.replace("8080", "${UNSET_PORT:-8080}"))):
            with self.subTest(case):
                self.assertEqual(self.check(text)[0], 0)

    def test_bad(self):
        for case, text, place, words in (
            ("S280 tab", GOOD + "shutdown:\n\tdrain: 5s\n", "6:", ()),
            ("S280 bracket", GOOD + "routes: [\n", ":", ()),
            ("S280 duplicate key", GOOD + 'listen: ":1"\n', "5:1", ("listen",)),
            ("S281 typo", GOOD + "shutdown: { drian: 5s }\n", "5:13", ("shutdown.drian", "drain")),
            ("S281 typo on top", GOOD + "timout: 5s\n", "5:1", ("timout",)),
            ("S283 unset variable", GOOD.replace("8080", "${UNSET_PORT}"), "2:", ("UNSET_PORT",)),
            ("S285 no unit", GOOD + "shutdown: { drain: 5 }\n", "5:", ("unit",)),
            ("B124 quoted without unit", GOOD + 'shutdown: { drain: "30" }\n', "5:", ("unit",)),
            ("S285 space", GOOD + 'shutdown: { drain: "5 s" }\n', "5:", ()),
            ("S285 negative", GOOD + "shutdown: { drain: -1s }\n", "5:", ()),
            ("S285 huge", GOOD + "shutdown: { drain: 1e9h }\n", "5:", ()),
            ("S285 overflow", GOOD + "shutdown: { drain: 99999999999999999999h }\n", "5:", ()),
            ("size for duration", GOOD + "shutdown: { drain: 5MiB }\n", "5:", ()),
            ("wrong version", GOOD.replace("version: 1", "version: 2"), "1:", ("version: 1",)),
            ("nothing to do", "version: 1\n", ":", ("listen", "upstream")),
            ("empty", "", ":", ()),
            ("list on top", "- a\n", ":", ()),
            ("anchors without end", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n", ":", ()),
            ("control characters", GOOD + "routes: \"\x01\"\n", ":", ()),
        ):
            with self.subTest(case):
                code, text = self.check(text)
                self.assertEqual(code, 3, text)
                self.assertIn(place, text)
                for word in words:
                    self.assertIn(word, text)

    def test_warnings(self):
        """S265: records that anybody on the way could write; rules that do nothing."""
        for case, text, code in (
            ("S265 memcached far away", GOOD.replace("store: memory", "store: memcached://cache.example.com:11211"), "W010"),
            ("unused upstream", "version: 1\nlisten: \":1\"\nupstreams: { a: { endpoints: [\"http://a:1\"] }, b: { endpoints: "
             "[\"http://b:1\"] } }\nroutes: [{ name: r, match: { path: \"/**\" }, upstream: a }]\n", "W012"),
        ):
            with self.subTest(case):
                exit_code, text = self.check(text)
                self.assertEqual(exit_code, 0)
                self.assertIn(code, text)
                self.assertEqual(run_cli("check", "--strict", "/dev/stdin", stdin=GOOD)[0], 0)

    def test_every_problem_is_told_at_once(self):
        code, text = self.check(GOOD + "timout: 5s\nshutdown: { drian: 5s, drain: 7 }\n")
        self.assertEqual(code, 3)
        for word in ("timout", "drian", "shutdown.drain"):
            self.assertIn(word, text)

    def test_hostile_files_end_soon(self):
        """S282"""
        bomb = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
        for case, text in (("aliases", bomb), ("depth", "a: " + "[" * 20_000), ("maps", "".join(" " * i + "a:\n" for i in range(3000))),
                           ("size", "#" * 20_000_000), ("keys", "".join(f"k{i}: 1\n" for i in range(20_000)))):
            with self.subTest(case):
                start = time.monotonic()
                code, _ = self.check(text)
                self.assertEqual(code, 3)
                self.assertLess(time.monotonic() - start, 10)

    def test_secrets_are_not_echoed(self):
        code, text = self.check(GOOD + "shutdown: { drain: \"${SECRET}\" }\n", env={"SECRET": "hunter2-hunter2"})
        self.assertEqual(code, 3)
        self.assertNotIn("hunter2", text)


if __name__ == "__main__":
    unittest.main()
