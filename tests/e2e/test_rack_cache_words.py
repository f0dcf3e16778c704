"""`access_log: { format: rack_cache }` against the real Rack::Cache: the same requests go through both, in front of
equal origins, and what they write is compared.

étagère's configuration is the one that `etagere import rack-cache` makes of the options that Rack::Cache gets, so this
also shows that what is imported behaves alike. `SAME` has to be the same text; `DIFFERENT` says which words differ, and
src/docs/rack-cache.md why.
"""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from apps import RackCache, program
from e2e import Client, Etagere, Memcached, wait_until

from harness import FaultProxy, Origin, past, run_cli, validating  # after e2e, which sets the path

DEFAULTS = "use Rack::Cache, metastore: 'heap:/', entitystore: 'heap:/', verbose: true\n"
OBEDIENT = """use Rack::Cache,
  :metastore        => 'heap:/',
  :entitystore      => 'heap:/',
  :default_ttl      => 60,
  :allow_reload     => true,
  :allow_revalidate => true
"""

GET, HEAD, POST = ("GET",), ("HEAD",), ("POST",)
FRESH = {"Cache-Control": "public, max-age=60"}
KEEP = {"Cache-Control": "public"}
AGED = {"Cache-Control": "public, max-age=60", "Age": "100"}


def get(**fields):
    return ("GET", {name.replace("_", "-"): value for name, value in fields.items()})


def whole(*answers):
    """A handler factory: (status, fields, body) one after the other, the last for all that follow."""
    def make():
        rest = list(answers)

        def run(exchange):
            status, fields, body = rest.pop(0) if len(rest) > 1 else rest[0]
            exchange.answer(status, fields, body)
        return run
    return make


def tagged(etag='"v1"', fields=None, **more):
    return lambda: validating(etag, b"body", KEEP if fields is None else fields, **more)


def changing(fields=None):
    """The tag is another one with each answer, so no validation ever succeeds."""
    def make():
        count = iter(range(1, 100))
        return lambda e: e.answer(200, {**(KEEP if fields is None else fields), "ETag": f'"v{next(count)}"'}, b"body")
    return make


def by_method(**answers):
    """One answer for each method, whatever came before."""
    return lambda: lambda exchange: exchange.answer(*answers[exchange.request.method])


def ranged(body=b"0123456789"):
    """Like a static file: the whole, or bytes 0 to 3."""
    def run(exchange):
        if exchange.request["Range"]:
            exchange.answer(206, {**FRESH, "Content-Range": f"bytes 0-3/{len(body)}", "ETag": '"v1"'}, body[:4])
        else:
            exchange.answer(200, {**FRESH, "ETag": '"v1"'}, body)
    return lambda: run


DAY_OLD = past(86400)

# (name, what the origin answers, requests, words of both)
SAME = [
    ("a miss is stored and then asked about", tagged(), [GET, GET, GET],
     ["miss, store", "stale, valid, store", "stale, valid, store"]),
    ("head fills the cache", tagged(), [HEAD, GET, HEAD], ["miss, store", "stale, valid, store", "stale, valid, store"]),
    ("fresh", whole((200, FRESH, b"x")), [GET, GET, HEAD], ["miss, store", "fresh", "fresh"]),
    ("fresh by Expires", whole((200, {"Expires": past(-60)}, b"x")), [GET, GET], ["miss, store", "fresh"]),
    ("fresh by s-maxage", whole((200, {"Cache-Control": "max-age=0, s-maxage=60"}, b"x")), [GET, GET],
     ["miss, store", "fresh"]),
    ("fresh and the client has it", whole((200, {**FRESH, "ETag": '"v1"'}, b"x")),
     [GET, get(If_None_Match='"v1"'), get(If_None_Match='"v0"')], ["miss, store", "fresh", "fresh"]),
    ("stale and the client has it", tagged(), [GET, get(If_None_Match='"v1"')], ["miss, store", "stale, valid, store"]),
    ("a date is a validator", tagged(None, last_modified=DAY_OLD), [GET, GET, get(If_Modified_Since=DAY_OLD)],
     ["miss, store", "stale, valid, store", "stale, valid, store"]),
    ("changed", changing(), [GET, GET, GET], ["miss, store", "stale, invalid, store", "stale, invalid, store"]),
    ("old on arrival, no validator", whole((200, AGED, b"x")), [GET, GET], ["miss", "miss"]),
    ("changed to private", whole((200, {**KEEP, "ETag": '"v1"'}, b"x"), (200, {"Cache-Control": "private"}, b"y")),
     [GET, GET], ["miss, store", "stale, invalid"]),
    ("changed to no-store", whole((200, {**KEEP, "ETag": '"v1"'}, b"x"), (200, {"Cache-Control": "no-store"}, b"y")),
     [GET, GET], ["miss, store", "stale, invalid"]),
    ("gone after it was kept", whole((200, {**KEEP, "ETag": '"v1"'}, b"x"), (404, {}, b"gone")), [GET, GET],
     ["miss, store", "stale, invalid"]),
    ("failing after it was kept", whole((200, {**KEEP, "ETag": '"v1"'}, b"x"), (500, {}, b"no")), [GET, GET],
     ["miss, store", "stale, invalid"]),
    ("private", whole((200, {"Cache-Control": "private", "ETag": '"v1"'}, b"x")), [GET, GET], ["miss", "miss"]),
    ("no-store", whole((200, {"Cache-Control": "no-store", "ETag": '"v1"'}, b"x")), [GET, GET], ["miss", "miss"]),
    ("neither lifetime nor validator", whole((200, {}, b"x")), [GET, GET], ["miss", "miss"]),
    ("no-cache of the origin", tagged(fields={"Cache-Control": "no-cache"}), [GET, GET],
     ["miss, store", "stale, valid, store"]),
    ("must-revalidate", tagged(fields={"Cache-Control": "public, max-age=0, must-revalidate"}), [GET, GET],
     ["miss, store", "stale, valid, store"]),
    ("an error", whole((500, {}, b"x")), [GET, GET], ["miss", "miss"]),
    ("404 with a lifetime", whole((404, FRESH, b"x")), [GET, GET], ["miss, store", "fresh"]),
    ("300 with a lifetime", whole((300, FRESH, b"x")), [GET, GET], ["miss, store", "fresh"]),
    ("410 with a lifetime", whole((410, FRESH, b"x")), [GET, GET], ["miss, store", "fresh"]),
    ("301 with a lifetime", whole((301, {**FRESH, "Location": "/"}, b"")), [GET, GET], ["miss, store", "fresh"]),
    ("302 with a lifetime", whole((302, {**FRESH, "Location": "/"}, b"")), [GET, GET], ["miss, store", "fresh"]),
    ("Authorization and nothing said", whole((200, {"ETag": '"v1"'}, b"x")), [get(Authorization="Bearer a")], ["miss"]),
    ("Authorization and max-age", whole((200, {"Cache-Control": "max-age=60"}, b"x")), [get(Authorization="Bearer a")],
     ["miss"]),
    ("Authorization and public", tagged(), [get(Authorization="Bearer a"), GET], ["miss, store", "stale, valid, store"]),
    ("Cookie and nothing said", whole((200, {"ETag": '"v1"'}, b"x")), [get(Cookie="a=1")], ["miss"]),
    ("Cookie and public", tagged(), [get(Cookie="a=1"), GET], ["miss, store", "stale, valid, store"]),
    ("Set-Cookie and public", tagged(fields={**KEEP, "Set-Cookie": "a=1"}, not_modified=KEEP), [GET, GET],
     ["miss, ignore, store", "stale, valid, store"]),
    ("Set-Cookie and private", whole((200, {"Cache-Control": "private", "Set-Cookie": "a=1"}, b"x")), [GET], ["miss"]),
    ("changed, and sets a cookie", whole((200, {**KEEP, "ETag": '"v1"'}, b"x"),
                                         (200, {**KEEP, "ETag": '"v2"', "Set-Cookie": "a=1"}, b"y")), [GET, GET],
     ["miss, store", "stale, invalid, ignore, store"]),
    ("Vary", whole((200, {**FRESH, "Vary": "X-Kind"}, b"x")),
     [get(X_Kind="a"), get(X_Kind="a"), get(X_Kind="b"), get(X_Kind="a"), get(X_Kind="b")],
     ["miss, store", "fresh", "miss, store", "fresh", "fresh"]),
    ("POST, PUT, PATCH and DELETE", whole((200, {}, b"x")), [POST, ("PUT",), ("PATCH",), ("DELETE",)],
     ["invalidate, pass"] * 4),
    ("a method that nobody knows", whole((200, {}, b"x")), [("LOCK",)], ["invalidate, pass"]),
    ("POST makes the next GET ask", tagged(fields={**FRESH}), [GET, GET, POST], ["miss, store", "fresh", "invalidate, pass"]),
    ("no-cache of a client that may not", whole((200, FRESH, b"x")),
     [GET, get(Cache_Control="no-cache"), get(Cache_Control="max-age=0"), get(Pragma="no-cache")],
     ["miss, store", "fresh", "fresh", "fresh"]),
    ("the order of parameters", whole((200, FRESH, b"x")), [("GET", {}, "?b=2&a=1"), ("GET", {}, "?a=1&b=2")],
     ["miss, store", "fresh"]),
    ("r-maxage", whole((200, {"Cache-Control": "r-maxage=60"}, b"x")), [GET, GET], ["miss", "miss"]),
    ("no-cache of the first client", whole((200, FRESH, b"x")), [get(Cache_Control="no-cache"), GET], ["miss, store", "fresh"]),
    ("another host", whole((200, FRESH, b"x")), [get(Host="a.test"), get(Host="b.test"), get(Host="a.test")],
     ["miss, store", "miss, store", "fresh"]),
    ("Vary on two fields", whole((200, {**FRESH, "Vary": "X-One,X-Two"}, b"x")),
     [get(X_One="a", X_Two="b"), get(X_One="a", X_Two="c"), get(X_One="a", X_Two="b")],
     ["miss, store", "miss, store", "fresh"]),
    ("a conditional request with a tag that is old", tagged(), [GET, get(If_None_Match='"v0"'), GET],
     ["miss, store", "stale, invalid, store", "stale, valid, store"]),
    ("203 with a lifetime", whole((203, FRESH, b"x")), [GET, GET], ["miss, store", "fresh"]),
    ("directives in any case and with blanks", whole((200, {"Cache-Control": "PUBLIC ,, Max-Age=60 "}, b"x")), [GET, GET],
     ["miss, store", "fresh"]),
]

SAME_OBEDIENT = [
    ("reload finds a new answer", changing(FRESH), [GET, GET, get(Cache_Control="no-cache"), GET],
     ["miss, store", "fresh", "reload, store", "fresh"]),
    ("reload by Pragma", changing(FRESH), [GET, get(Pragma="no-cache")], ["miss, store", "reload, store"]),
    ("reload of what was never kept", changing(FRESH), [get(Cache_Control="no-cache"), GET], ["reload, store", "fresh"]),
    ("reload of what may not be kept", whole((200, {"Cache-Control": "no-store"}, b"x")),
     [get(Cache_Control="no-cache"), get(Cache_Control="no-cache")], ["reload", "reload"]),
    ("max-age=0 asks", tagged(fields=FRESH), [GET, GET, get(Cache_Control="max-age=0")],
     ["miss, store", "fresh", "stale, valid, store"]),
    ("max-age of a client that is met", tagged(fields=FRESH), [GET, get(Cache_Control="max-age=30")],
     ["miss, store", "fresh"]),
    ("max-age=0 finds a new answer", changing(FRESH), [GET, get(Cache_Control="max-age=0")],
     ["miss, store", "stale, invalid, store"]),
    ("default_ttl", whole((200, {}, b"x")), [GET, GET], ["miss, store", "fresh"]),
    ("default_ttl and a validator", tagged(fields={}), [GET, GET], ["miss, store", "fresh"]),
    ("default_ttl gives way to max-age", tagged(fields={"Cache-Control": "max-age=0"}), [GET, GET],
     ["miss, store", "stale, valid, store"]),
    ("default_ttl is not for an error", whole((500, {}, b"x")), [GET, GET], ["miss", "miss"]),
    ("default_ttl is not for one user", whole((200, {}, b"x")), [get(Cookie="a=1"), get(Cookie="a=1")], ["miss", "miss"]),
]

# (name, what the origin answers, requests, words of Rack::Cache, words of étagère)
DIFFERENT = [
    ("a cold conditional request", tagged(), [get(If_None_Match='"v1"'), GET],
     ["miss", "miss, store"], ["miss, store", "stale, valid, store"]),
    ("a range of what is not kept", ranged(), [get(Range="bytes=0-3")], ["miss"], ["miss, store"]),
    ("what is old on arrival", tagged(fields={**FRESH, "Age": "100"}), [GET, GET], ["miss, store", "fresh"],
     ["miss, store", "stale, valid, store"]),
    ("Set-Cookie without public", tagged(fields={"Set-Cookie": "a=1"}), [GET, GET],
     ["miss, ignore, store", "stale, valid, store"], ["miss", "miss"]),
    ("a changed answer to a cookie", whole((200, {**KEEP, "ETag": '"v1"'}, b"x"), (200, {"ETag": '"v2"'}, b"for one user")),
     [GET, get(Cookie="a=1")], ["miss, store", "stale, invalid, store"], ["miss, store", "stale, invalid"]),
    ("Expect", whole((200, FRESH, b"x")), [GET, get(Expect="100-continue")], ["miss, store", "pass"],
     ["miss, store", "fresh"]),
    ("GET with a body", whole((200, FRESH, b"x")), [("GET", {}, "", b"question")], ["miss, store"], ["pass"]),
    ("OPTIONS", whole((200, {}, b"")), [("OPTIONS",)], ["invalidate, pass"], ["pass"]),
    ("a write that fails", by_method(GET=(200, {**FRESH, "ETag": '"v1"'}, b"x"), POST=(422, {}, b"no")), [GET, POST, GET],
     ["miss, store", "invalidate, pass", "stale, invalid, store"], ["miss, store", "pass", "fresh"]),
    ("the first request after a write", by_method(GET=(200, {**FRESH, "ETag": '"v1"'}, b"x"), POST=(201, {}, b"yes")),
     [GET, POST, GET], ["miss, store", "invalidate, pass", "stale, invalid, store"],
     ["miss, store", "invalidate, pass", "miss, store"]),
    ("Vary: *", whole((200, {**FRESH, "Vary": "*"}, b"x")), [GET, GET], ["miss, store", "fresh"], ["miss", "miss"]),
    ("204 with a lifetime", whole((204, FRESH, b"")), [GET, GET], ["miss", "miss"], ["miss, store", "fresh"]),
    ("308 with a lifetime", whole((308, {**FRESH, "Location": "/"}, b"")), [GET, GET], ["miss", "miss"],
     ["miss, store", "fresh"]),
    ("Authorization and s-maxage", whole((200, {"Cache-Control": "s-maxage=60"}, b"x")),
     [get(Authorization="Bearer a"), GET], ["miss", "miss, store"], ["miss, store", "fresh"]),
    ("an event stream", whole((200, {**FRESH, "Content-Type": "text/event-stream"}, b"data: x\n\n")), [GET, GET],
     ["miss, store", "fresh"], ["miss", "miss"]),
    ("conflicting lifetimes", whole((200, {"Cache-Control": "max-age=0, max-age=60"}, b"x")), [GET, GET],
     ["miss, store", "fresh"], ["miss", "miss"]),
    ("a lifetime in quotes", whole((200, {"Cache-Control": 'max-age="60"'}, b"x")), [GET, GET], ["miss", "miss"],
     ["miss, store", "fresh"]),
    ("the origin grants stale on errors", whole((200, {"Cache-Control": "max-age=9, stale-if-error=999",
                                                       "Date": past(20), "ETag": '"v1"'}, b"x"), (503, {}, b"no")), [GET, GET],
     ["miss, store", "stale, invalid"], ["miss, store", "stale"]),
    ("a question mark and nothing behind it", whole((200, FRESH, b"x")), [GET, ("GET", {}, "?")], ["miss, store", "fresh"],
     ["miss, store", "miss, store"]),
    ("Vary with blanks and no commas", whole((200, {**FRESH, "Vary": "X-One X-Two"}, b"x")),
     [get(X_One="a", X_Two="b"), get(X_One="a", X_Two="b")], ["miss, store", "fresh"], ["miss", "miss"]),
    ("parameters after a semicolon", whole((200, FRESH, b"x")), [("GET", {}, "?b=2;a=1"), ("GET", {}, "?a=1;b=2")],
     ["miss, store", "fresh"], ["miss, store", "miss, store"]),
    ("one parameter twice", whole((200, FRESH, b"x")), [("GET", {}, "?a=2&a=1"), ("GET", {}, "?a=1&a=2")],
     ["miss, store", "fresh"], ["miss, store", "miss, store"]),
    ("another spelling of a parameter", whole((200, FRESH, b"x")), [("GET", {}, "?a=1"), ("GET", {}, "?%61=1")],
     ["miss, store", "fresh"], ["miss, store", "miss, store"]),
    # Rack::Cache 1.2 raises an error and passes; later ones do as étagère.
    ("badly encoded parameters", whole((200, FRESH, b"x")), [("GET", {}, "?%D0%BA=%D1"), ("GET", {}, "?%D0%BA=%D1")],
     ["pass", "pass"], ["miss, store", "fresh"]),
    # Rack::Cache 1.2 takes the two for one; later ones do not.
    ("an encoded equals sign", whole((200, FRESH, b"x")), [("GET", {}, "?a%3Db=c"), ("GET", {}, "?a=b%3Dc")],
     ["miss, store", "fresh"], ["miss, store", "miss, store"]),
    # Rack::Cache 1.2 keeps what the 304 has made private; later ones do not (its bug, repaired there).
    ("the 304 withdraws the permission", tagged(not_modified={"Cache-Control": "private"}), [GET, GET],
     ["miss, store", "stale, valid, store"], ["miss, store", "stale, valid"]),
]

DIFFERENT_OBEDIENT = [
    ("a reload that the tag answers", tagged(fields=FRESH), [GET, get(Cache_Control="no-cache")],
     ["miss, store", "reload, store"], ["miss, store", "reload, valid, store"]),
    ("no-store of a client", whole((200, FRESH, b"x")), [GET, get(Cache_Control="no-store"), GET],
     ["miss, store", "fresh", "fresh"], ["miss, store", "pass", "fresh"]),
    ("only-if-cached", whole((200, FRESH, b"x")), [get(Cache_Control="only-if-cached")], ["miss, store"],
     ["only_if_cached"]),
    ("min-fresh", tagged(fields=FRESH), [GET, get(Cache_Control="min-fresh=90")], ["miss, store", "fresh"],
     ["miss, store", "stale, valid, store"]),
    ("default_ttl and 404", whole((404, {}, b"x")), [GET, GET], ["miss, store", "fresh"], ["miss", "miss"]),
    ("default_ttl and must-revalidate", whole((200, {"Cache-Control": "must-revalidate"}, b"x")), [GET, GET],
     ["miss", "miss"], ["miss, store", "fresh"]),
]

# (name, fields of the second request, statuses of Rack::Cache and of étagère)
CONDITIONS = [
    ("the tag", {"If-None-Match": 'W/"v1"'}, 304, 304),
    ("the tag in a list", {"If-None-Match": '"v0", W/"v1"'}, 304, 304),
    ("any", {"If-None-Match": "*"}, 304, 304),
    ("another tag", {"If-None-Match": '"v0"'}, 200, 200),
    ("the tag as a strong one", {"If-None-Match": '"v1"'}, 200, 304),
    ("the tag without its quotes", {"If-None-Match": "v1"}, 200, 304),
    ("the date", {"If-Modified-Since": DAY_OLD}, 304, 304),
    ("a later date", {"If-Modified-Since": past(3600)}, 200, 304),
    ("an earlier date", {"If-Modified-Since": past(2 * 86400)}, 200, 200),
    ("the tag and another date", {"If-None-Match": 'W/"v1"', "If-Modified-Since": past(2 * 86400)}, 200, 304),
    ("the date and another tag", {"If-None-Match": '"v0"', "If-Modified-Since": DAY_OLD}, 200, 200),
    ("a precondition that fails", {"If-Match": '"v0"'}, 200, 412),
]


class Pair:
    """Rack::Cache with `options`, and étagère with what it imports of them, each in front of an origin of its own."""

    def __init__(self, options):
        self.origins = [Origin(), Origin()]
        self.rack = RackCache(options, self.origins[0].url)
        self.etagere = Etagere(imported(options).replace("http://127.0.0.1:3000", self.origins[1].url))
        self.numbers = iter(range(1, 1000))

    def close(self):
        self.etagere.stop()
        self.rack.stop()
        for origin in self.origins:
            origin.stop()

    def play(self, make, requests):
        """Both answers to each request, and the words of both."""
        path = f"/case-{next(self.numbers)}"
        for origin in self.origins:
            origin.on(path, make())
        answers = []
        for request in requests:
            method, fields, query, body = (*request, *({}, "", None)[len(request) - 1:])
            if method in ("POST", "PUT", "PATCH"):
                body = b"x"
            both = []
            for server in (self.rack, self.etagere):
                with Client(server.address, timeout=30) as client:
                    both.append(client.ask(method, path + query, fields, body))
            answers.append(both)
        return answers, self.lines(path, len(requests))

    def lines(self, path, count):
        def written():
            return [line for line in self.etagere.other_lines if f" {path}]" in line or f" {path}?" in line]
        wait_until(lambda: len(written()) >= count, f"{count} lines of étagère")
        return self.rack.words(path, count), written()


def imported(options):
    """What `etagere import rack-cache` makes of the options, on free ports."""
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "config.ru")
        with open(name, "w", encoding="utf-8") as file:
            file.write(options)
        code, out, err = run_cli("import", "rack-cache", name)
    if code or err:
        raise AssertionError(f"import ended with {code}: {err}")
    return out.replace('listen: ":8080"\n', 'listeners: { ingress: { address: "127.0.0.1:0" }, '
                                            'admin: { address: "127.0.0.1:0", role: admin } }\nworkers: 1\n')


def words(lines):
    return [line.split("] ", 1)[1] for line in lines]


def heads(lines):
    return [line.split("] ", 1)[0] for line in lines]


class Words(unittest.TestCase):
    OPTIONS, SAME, DIFFERENT = DEFAULTS, SAME, DIFFERENT

    @classmethod
    def setUpClass(cls):
        cls.pair = Pair(cls.OPTIONS)
        cls.addClassCleanup(cls.pair.close)

    def test_the_same_words(self):
        for name, make, requests, wanted in self.SAME:
            with self.subTest(name):
                answers, (rack, etagere) = self.pair.play(make, requests)
                self.assertEqual(words(rack), wanted, "of Rack::Cache")
                self.assertEqual(etagere, rack)
                for one, other in answers:
                    self.assertEqual((other.status, other.body), (one.status, one.body))

    def test_words_that_differ_on_purpose(self):
        for name, make, requests, of_rack, of_etagere in self.DIFFERENT:
            with self.subTest(name):
                _, (rack, etagere) = self.pair.play(make, requests)
                self.assertEqual(words(rack), of_rack, "of Rack::Cache")
                self.assertEqual(words(etagere), of_etagere, "of étagère")
                self.assertEqual(heads(etagere), heads(rack))


class ObedientWords(Words):
    OPTIONS, SAME, DIFFERENT = OBEDIENT, SAME_OBEDIENT, DIFFERENT_OBEDIENT

    def test_the_default_is_not_shown(self):
        [_, (rack, etagere)], _ = self.pair.play(whole((200, {"Cache-Control": "public"}, b"x")), [GET, GET])
        self.assertEqual((rack["Cache-Control"], etagere["Cache-Control"]), ("public, s-maxage=60", "public"))


class Answers(unittest.TestCase):
    """What clients see, where the words are the same."""

    @classmethod
    def setUpClass(cls):
        cls.pair = Pair(DEFAULTS)
        cls.addClassCleanup(cls.pair.close)

    def test_conditions_of_clients(self):
        for name, fields, of_rack, of_etagere in CONDITIONS:
            with self.subTest(name):
                answers, _ = self.pair.play(tagged('W/"v1"', FRESH, last_modified=DAY_OLD), [GET, ("GET", fields)])
                rack, etagere = answers[1]
                self.assertEqual((rack.status, etagere.status), (of_rack, of_etagere))
                for answer in answers[1]:
                    self.assertEqual(answer["ETag"], 'W/"v1"' if answer.status != 412 else None)

    def test_what_a_client_is_shown(self):
        """Fields that Rack::Cache adds or changes, and étagère does not."""
        answers, _ = self.pair.play(tagged(fields={**FRESH, "Set-Cookie": "a=1"}), [GET, GET])
        for rack, etagere in answers:
            self.assertIn("X-Rack-Cache", rack.fields)
            self.assertIn("X-Content-Digest", rack.fields)
            self.assertIn("Cache-Status", etagere.fields)
            for name in ("X-Rack-Cache", "X-Content-Digest"):
                self.assertNotIn(name, etagere.fields)
        (rack, etagere), (later_rack, later_etagere) = answers
        self.assertIn("Age", rack.fields)
        self.assertNotIn("Age", etagere.fields)
        self.assertEqual((later_rack["Age"], later_etagere["Age"]), ("0", "0"))
        # The client whose request it was made for gets its cookie; nobody else does.
        self.assertEqual((rack["Set-Cookie"], etagere["Set-Cookie"]), (None, "a=1"))
        self.assertEqual((later_rack["Set-Cookie"], later_etagere["Set-Cookie"]), (None, None))

    def ask(self, side, method, path, fields=(), body=None):
        with Client((self.pair.rack, self.pair.etagere)[side].address, timeout=30) as client:
            return client.ask(method, path, fields, body)

    def test_what_belongs_to_one_answer(self):
        numbers = [iter(range(100)), iter(range(100))]
        make = iter([lambda e, n=n: e.answer(200, {**FRESH, "X-Request-Id": str(next(n))}, b"x") for n in numbers])
        (first, second), _ = self.pair.play(lambda: next(make), [GET, GET])
        self.assertEqual([answer["X-Request-Id"] for answer in first], ["0", "0"])
        self.assertEqual([answer["X-Request-Id"] for answer in second], ["0", None])

    def test_fields_of_a_304(self):
        fields = {**FRESH, "Content-Language": "de", "X-Other": "1", "Vary": "Accept", "Content-Type": "text/plain"}
        (_, (rack, etagere)), _ = self.pair.play(tagged(fields=fields, last_modified=DAY_OLD),
                                                 [GET, get(If_None_Match='"v1"')])
        self.assertEqual((rack.status, etagere.status), (304, 304))
        for name, of_rack, of_etagere in (("ETag", True, True), ("Vary", True, True), ("Cache-Control", True, True),
                                          ("Date", True, True), ("X-Other", True, False), ("Content-Type", False, False),
                                          ("Content-Language", False, False), ("Last-Modified", False, False)):
            self.assertEqual((name in rack.fields, name in etagere.fields), (of_rack, of_etagere), name)

    def test_no_304_to_a_write(self):
        [both], _ = self.pair.play(tagged(), [("POST", {"If-None-Match": '"v0"'})])
        self.assertEqual([answer.status for answer in both], [200, 200])

    def test_head_has_the_length_of_the_get(self):
        (_, both), _ = self.pair.play(whole((200, FRESH, b"12345")), [GET, HEAD])
        self.assertEqual([(answer.body, answer["Content-Length"]) for answer in both], [(b"", "5")] * 2)

    def test_what_a_write_names_in_its_location(self):
        named, path = (f"/case-{next(self.pair.numbers)}" for _ in range(2))
        for side, hits in ((0, 1), (1, 2)):
            origin = self.pair.origins[side]
            origin.on(named, whole((200, FRESH, b"x"))())
            origin.on(path, whole((201, {"Location": named}, b"y"))())
            for method, target in (("GET", named), ("POST", path), ("GET", named)):
                self.ask(side, method, target, (), b"x" if method == "POST" else None)
            self.assertEqual(origin.hits(named), hits)

    def test_a_write_during_a_fetch(self):
        path = f"/case-{next(self.pair.numbers)}"
        for side, why in ((0, b"old"), (1, b"new")):
            origin, go = self.pair.origins[side], threading.Event()

            def answer(exchange, origin=origin, go=go):
                if exchange.request.method == "GET" and origin.hits(path) == 1:
                    exchange.wait(go, 30)
                    exchange.answer(200, FRESH, b"old")
                else:
                    exchange.answer(200, FRESH, b"new")
            origin.on(path, answer)
            reader = threading.Thread(target=self.ask, args=(side, "GET", path))
            reader.start()
            origin.wait_hits(path, 1)
            self.ask(side, "POST", path, (), b"x")
            go.set()
            reader.join(30)
            self.assertEqual(self.ask(side, "GET", path).body, why)

    def test_two_at_once(self):
        """étagère's half of it: tests/system/test_collapse.py."""
        path, go, origin = f"/case-{next(self.pair.numbers)}", threading.Event(), self.pair.origins[0]

        def answer(exchange):
            exchange.wait(go, 30)
            exchange.answer(200, FRESH, b"x")
        origin.on(path, answer)
        readers = [threading.Thread(target=self.ask, args=(0, "GET", path)) for _ in range(2)]
        for reader in readers:
            reader.start()
        origin.wait_hits(path, 2)
        go.set()
        for reader in readers:
            reader.join(30)

    def test_dates_that_are_none(self):
        """Rack::Cache 1.2 answers 500 to its client; later ones do not."""
        for name, fields, requests in (("Expires", {"Expires": "0"}, [GET, GET]),
                                       ("Date", {**FRESH, "Date": "yesterday"}, [GET, GET])):
            with self.subTest(name):
                path = f"/case-{next(self.pair.numbers)}"
                for origin in self.pair.origins:
                    origin.on(path, whole((200, fields, b"x"))())
                for server, status in ((self.pair.rack, 500), (self.pair.etagere, 200)):
                    for method, in requests:
                        with Client(server.address, timeout=30) as client:
                            self.assertEqual(client.ask(method, path).status, status)

    def test_an_answer_to_a_cookie_is_not_rewritten(self):
        [(rack, etagere)], _ = self.pair.play(whole((200, {"ETag": '"v1"', "Cache-Control": "max-age=60"}, b"x")),
                                              [get(Cookie="a=1")])
        self.assertEqual((rack["Cache-Control"], etagere["Cache-Control"]), ("private, max-age=60", "max-age=60"))


class WithMemcached(unittest.TestCase):
    """The usual deployment: both keep what they have in a memcached."""

    def setUp(self):
        self.memcached = Memcached()
        self.addCleanup(self.memcached.close)
        uri = f"memcached://127.0.0.1:{self.memcached.port}"
        self.pair = Pair(f"use Rack::Cache, metastore: '{uri}/meta', entitystore: '{uri}/body'\n")
        self.addCleanup(self.pair.close)

    def compare(self, make, requests, of_rack, of_etagere):
        _, (rack, etagere) = self.pair.play(make, requests)
        self.assertEqual(words(rack), of_rack, "of Rack::Cache")
        self.assertEqual(words(etagere), of_etagere, "of étagère")

    def test_the_same_words(self):
        for name, make, requests, wanted in SAME[:6]:
            with self.subTest(name):
                self.compare(make, requests, wanted, wanted)

    def test_bodies_that_are_lost(self):
        """Two servers there, so that one can lose the bodies; étagère's half: tests/system/test_memcached.py."""
        bodies, origin = Memcached(), Origin()
        self.addCleanup(bodies.close)
        self.addCleanup(origin.stop)
        rack = RackCache(f"use Rack::Cache, metastore: 'memcached://127.0.0.1:{self.memcached.port}/meta', "
                         f"entitystore: 'memcached://127.0.0.1:{bodies.port}/body'\n", origin.url)
        self.addCleanup(rack.stop)
        origin.on("/x", whole((200, FRESH, b"x"))())
        for wanted in (["miss, store", "fresh"], ["miss, store", "fresh"] * 2):
            for _ in range(2):
                with Client(rack.address, timeout=30) as client:
                    self.assertEqual(client.ask("GET", "/x").body, b"x")
            self.assertEqual(words(rack.words("/x", len(wanted))), wanted)
            with socket.create_connection(("127.0.0.1", bodies.port)) as admin:
                admin.sendall(b"flush_all\r\n")
                self.assertEqual(admin.recv(4), b"OK\r\n")

    def test_a_memcached_that_hangs(self):
        """One look-up of Rack::Cache waits for Dalli's deadline, étagère's for its own."""
        proxy = FaultProxy(self.memcached)
        self.addCleanup(proxy.close)
        pair = Pair(f"use Rack::Cache, metastore: 'memcached://127.0.0.1:{proxy.port}/x', "
                    f"entitystore: 'memcached://127.0.0.1:{proxy.port}/x'\n")
        self.addCleanup(pair.close)
        pair.play(whole((200, FRESH, b"x")), [GET])
        proxy.fault = "hang"
        for origin in pair.origins:
            origin.on("/hangs", whole((200, FRESH, b"x"))())
        took = []
        for server in (pair.rack, pair.etagere):
            before = time.monotonic()
            with Client(server.address, timeout=30) as client:
                self.assertEqual(client.ask("GET", "/hangs").status, 200)
            took.append(time.monotonic() - before)
        self.assertGreater(took[0], 0.4)
        self.assertLess(took[1], took[0])

    def test_a_body_larger_than_an_item(self):
        """memcached takes 1 MiB: étagère keeps such a body in pieces."""
        body = os.urandom(3_000_000)              # Dalli would make zeros fit
        self.compare(whole((200, FRESH, body)), [GET, GET], ["miss", "miss"], ["miss, store", "fresh"])

    def test_memcached_dies(self):
        self.compare(whole((200, FRESH, b"x")), [GET, GET], ["miss, store", "fresh"], ["miss, store", "fresh"])
        self.memcached.process.kill()
        self.memcached.process.wait(10)
        answers, (rack, etagere) = self.pair.play(whole((200, FRESH, b"x")), [GET] * 4)
        self.assertEqual([(one.status, other.status) for one, other in answers], [(200, 200)] * 4)
        self.assertEqual(words(rack), ["pass"] * 4)
        # Its memory goes on until the failure is noticed, which may be now or a little later.
        self.assertLessEqual(set(words(etagere)), {"miss, store", "miss", "fresh"})


class Inside(unittest.TestCase):
    """What of Rack::Cache is seen from its inside only: tests/apps/rack_cache/inside.rb."""

    def test_what_it_holds(self):
        script = os.path.join(RackCache.DIRECTORY, "inside.rb")
        done = subprocess.run([program("ruby"), script], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(json.loads(done.stdout), {"collects_the_body_first": True, "entries_of_2000": 2000,
                                                   "stored_as_ruby_objects": True})


if __name__ == "__main__":
    unittest.main()
