#!/usr/bin/env python3
"""Judges the runner: what it must refuse to read, and what it must not let pass. ETAGERE_BIN as for `run`."""

import pathlib
import sys
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system")]

from language import BadConversation, duration, read  # noqa: E402
from house import Failed, House                       # noqa: E402
from play import Player                               # noqa: E402
from values import expand                             # noqa: E402

STORED = """
origin answers 200
  ETag: "v1"
  Cache-Control: max-age=60
  X-A: 1
  X-A: 2
  body: hello
client GET /r
origin sees GET /r
"""


class Reads(unittest.TestCase):
    """File, line, and the nearest word that there is."""

    def refused(self, text, line, *says):
        with self.assertRaises(BadConversation) as caught:
            read("x.conv", text)
        message = str(caught.exception)
        self.assertTrue(message.startswith(f"x.conv:{line}: "), message)
        for part in says:
            self.assertIn(part, message)

    def test_unknown_words(self):
        for text, line, *says in (
                ("cleint GET /r", 1, "'cleint'", "did you mean 'client'"),
                ("client GET /r\nclient gest 200", 2, "'gest'", "did you mean 'gets'"),
                ("origin anwsers 200", 1, "'anwsers'", "did you mean 'answers'"),
                ("origin answers 200\n  boby: hello", 2, "'boby:'", "did you mean 'body:'"),
                ("client GET /r\nclient gets 200\n  cahce: hit", 3, "did you mean 'cache:'"),
                ("client get /r", 1, "did you mean 'gets'"),
                ('client GET /r\n  etag: "v1"', 2, "begin with a capital"),
                ("etagere restart", 1, "did you mean 'restarts'"),
                ("memcached die", 1, "did you mean 'dies'"),
                ("client GET /r\n  ETag \"v1\"", 2, "Name: value"),
                ("client sends\n  GET / HTTP/1.1", 2, "`> `"),
                ("client GET /r\nclient gets 200\n  no boddy", 3, "did you mean 'body'"),
                ("wait 3s\n  body: x", 2, "no block"),
                ("  body: x", 1, "without a sentence"),
                ("client", 1, "does what?"),
                ("# nothing", 1, "says nothing"),
                ("origin answers 200\n\tbody: x", 2, "tab")):
            with self.subTest(text):
                self.refused(text, line, *says)

    def test_every_conversation_of_the_directory(self):
        for path in HERE.glob("*.conv"):
            with self.subTest(path.name):
                read(path.name, path.read_text(encoding="utf-8"))

    def test_values(self):
        now = 784111777
        for text, wanted in (("{now}", b"Sun, 06 Nov 1994 08:49:37 GMT"), ("{now-1h}", b"Sun, 06 Nov 1994 07:49:37 GMT"),
                             ("{10 bytes}", b"0000000\n00"), ("{3 times ab}", b"ababab"), ("{tag}", b'"v1"'),
                             ('{"a":1}', b'{"a":1}'), (r"a\r\n\x00\\n", b"a\r\n\x00\\n"), ("{now-x}", b"{now-x}")):
            with self.subTest(text):
                self.assertEqual(expand(text, now, {"tag": b'"v1"'}), wanted)
        self.assertEqual([duration(t) for t in ("250ms", "3s", "2m", "1h", "30d", "3", "3 s")],
                         [250, 3000, 120000, 3600000, 2592000000, None, None])


class Plays(unittest.TestCase):
    """A conversation that is not true has to fail, and to say where, what was expected and what came."""

    def plays(self, text):
        Player("x.conv", text).play()

    def fails(self, text, line, *says):
        with self.assertRaises((Failed, BadConversation)) as caught, \
                unittest.mock.patch.object(House, "patience", 2.0):     # some fail by waiting
            self.plays(text)
        message = str(caught.exception)
        self.assertTrue(message.startswith(f"x.conv:{line}: "), message)
        for part in says:
            self.assertIn(part, message)
        return message

    def test_a_true_one(self):
        self.plays(STORED + 'client gets 200\n  X-A: 1\n  X-A: 2\n  no Age\n  ETag ~ ^"v\n  body: hello\n')

    def test_what_came_is_shown_with_all_that_went_before(self):
        message = self.fails(STORED + "client gets 404\n", 10, "status", "expected: 404", "got:      200",
                             "the conversation so far", "line 8: client GET /r", "origin < GET /r", "X-A: 2", "b'hello'")
        self.assertLess(message.index("line 8"), message.index("origin < GET /r"))

    def test_expectations(self):
        for lines, line, *says in (("  body: hullo", 11, "expected: 'hullo'", "got:      'hello'"),
                                   ("  ETag: \"v2\"", 11, 'expected: "v2"', 'got:      "v1"'),
                                   ("  X-A: 1", 11, "expected: 1", "1 | 2"),
                                   ("  X-A: 2\n  X-A: 1", 11, "expected: 2 | 1"),
                                   ("  Etags: x", 11, "absent; there is etag"),
                                   ("  no ETag", 11, "absent"), ("  no body", 11, "hello"),
                                   ("  ETag ~ ^W/", 11, "~ ^W/"), ("  body ~ ^e", 11, "~ ^e"),
                                   ("  cache: hit", 11, "fwd=uri-miss"), ("  connection closes", 11, "stays open"),
                                   ("  trailer X: y", 11, "absent"), ("  on a new connection", 11, "says nothing")):
            with self.subTest(lines):
                self.fails(STORED + "client gets 200\n" + lines, line, *says)

    def test_what_the_origin_sees(self):
        asked = STORED.replace("origin sees GET /r\n", "client gets 200\n")
        self.fails(asked, 9, "does not mention", "<GET /r")
        self.fails(asked + "origin sees nothing\n", 10, "does not mention")
        self.fails(asked + "client GET /r\n", 10, "does not mention")
        self.fails(asked + "origin sees GET /s\n", 10, "expected the origin to see GET /s", "<GET /r")
        self.fails(asked + "origin sees GET /r 2 times\n", 10, "GET /r 2 times")
        self.fails(asked + "origin sees GET /r\n  If-None-Match: \"v1\"\n", 11, "absent")
        self.plays(asked + "origin sees anything\n")

    def test_what_is_left_open(self):
        self.fails(STORED, 9, "a client waits for an answer")
        self.fails("client GET /r\nclient gets 500\n", 2, "no answer for")
        self.fails("origin answers 200\nclient GET /r\nclient GET /s\n", 3, "need names")
        self.fails("origin answers 200\nclient GET /r\nclient gets 200 cut\n", 3, "cut in the middle")
        self.fails("origin goes on\n", 1, "no `pause`")
        self.fails("wait 3 s\n", 1, "how long")

    def test_configuration(self):
        self.fails("route\n  cahce: off\netagere accepts\n", 3, "refuses", "cahce")
        self.fails("route\n  cache: off\netagere refuses\n", 3, "accepts")
        self.fails("route\n  cahce: off\nclient GET /r\n", 3, "ended at once", "the configuration:")

    def test_time_moves_only_when_it_is_told_to(self):
        self.plays(STORED + "client gets 200\nwait 59s\nclient GET /r\nclient gets 200\n  Age: 59\n  cache: hit ttl=1\n"
                   "wait 1s\nclient GET /r\norigin sees GET /r\nclient gets 200\n")

    def test_deadlines_move_along(self):
        """An idle connection is closed when its time is over, in virtual time."""
        self.plays("listener\n  limits: { idle_timeout: 10m }\norigin answers 200\nclient A GET /r\norigin sees GET /r\n"
                   "client A gets 200\n  connection stays\nwait 11m\nclient A is closed\n")


if __name__ == "__main__":
    unittest.main()
