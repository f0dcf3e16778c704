"""Purges among several étagères that share one memcached: what one purges is purged for all, within a bound, whoever and
whatever restarts meanwhile (catalogue S262)."""

import threading
import time
import unittest

from harness import Etagere, FaultProxy, Memcached, SystemTest, request, response, validating, wait_until
from test_purge import FRESH, ask_purge

POLL = 0.3
JOURNAL = b"etagere:v2:purges"


class Shared(SystemTest):
    # With this local_ttl nothing but the journal can tell a process what another one has purged.
    CONFIG = f"""
version: 1
workers: 1
listeners:
  ingress: {{ address: "127.0.0.1:0" }}
  admin: {{ address: "127.0.0.1:0", role: admin }}
upstreams:
  app: {{ endpoints: ["@ORIGIN@"] }}
stores:
  default:
    memory: {{ size: 64MiB, local_ttl: 1h }}
    memcached: {{ servers: "@MEMCACHED@", timeout: 500ms, purge_poll: {int(POLL * 1000)}ms @SIGN@ }}
routes:
  - {{ name: writes, match: {{ path: "/writes/**", methods: [POST] }}, upstream: app, purge_on_success: {{ tags: [made] }} }}
  - {{ name: other, match: {{ path: "/other/**" }}, upstream: app }}
  - {{ name: all, match: {{ path: "/**" }}, upstream: app }}
"""
    SIGN = ""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}", "SIGN": cls.SIGN}

    def setUp(self):
        self.other = self.start()

    def start(self, **values):
        made = Etagere(self.CONFIG, values={**self.etagere.values, **values})
        self.addCleanup(made.kill)
        return made

    def ask_at(self, at, path):
        with at.client() as client:
            return client.ask("GET", path)

    def asks(self, at, path):
        before = self.origin.hits(path)
        self.assertEqual(self.ask_at(at, path).status, 200)
        return self.origin.hits(path) > before

    def stored(self, path=None, fields=(), more=()):
        """Kept by both, in memory and in memcached."""
        path = path or self.path()
        self.origin.on(path, response(200, {**FRESH, **dict(fields)}, b"stored"))
        for at in (self.etagere, self.other, *more):
            wait_until(lambda at=at: self.ask_at(at, path).why == "hit_fresh", f"{path} to be kept")
        return path

    def purge(self, at=None, published=True, **what):
        got = ask_purge(at or self.etagere, what)
        self.assertEqual((got.status, b'"published":true' in got.body), (200, published), got.body)

    def journal_is_back(self):
        wait_until(lambda: self.memcached.value(JOURNAL), "the journal to be there")

    def test_within_the_bound(self):
        for what in ("url", "tag", "prefix", "route"):
            for soft in (False, True):
                with self.subTest(what, soft=soft):
                    path = self.path() if what != "route" else "/other" + self.path()
                    self.origin.on(path, validating('"v1"', b"body", {**FRESH, "Surrogate-Key": path}))
                    for at in (self.etagere, self.other):
                        wait_until(lambda at=at: self.ask_at(at, path).why == "hit_fresh", "both to have it")
                    self.purge(soft=soft, **{what: {"url": f"http://shop.test{path}", "tag": path, "prefix": path, "route": "other"}[what]})
                    start = time.monotonic()
                    self.assertTrue(self.asks(self.etagere, path), "at once where it was purged")
                    wait_until(lambda: self.ask_at(self.other, path).why != "hit_fresh", "the other one to notice", POLL + 1)
                    self.assertLess(time.monotonic() - start, POLL + 1)
                    self.assertEqual(self.origin.asked(path)[-1], "conditional" if soft else "full")
                    self.assertFalse(self.asks(self.other, path), "once is enough")

    def test_a_write_here_is_noticed_there(self):
        path = self.stored(fields={"Surrogate-Key": "made"})
        writer = "/writes" + self.path()
        self.origin.on(writer, response(200, (), b"done"))
        self.assertEqual(self.ask("POST", writer, (), b"x").status, 200)
        wait_until(lambda: self.asks(self.other, path), "the other one to notice", POLL + 1)

    def test_a_restart_changes_nothing(self):
        gone, stays = self.stored(fields={"Surrogate-Key": "g"}), self.stored()
        self.purge(tag="g")
        fresh = self.start()
        self.assertTrue(self.asks(fresh, gone))
        self.assertFalse(self.asks(fresh, stays), "what was not purged is still in memcached")

    def test_all_restart(self):
        gone, stays = self.stored(fields={"Surrogate-Key": "g"}), self.stored()
        self.purge(tag="g")
        self.other.stop()
        self.etagere.stop()
        type(self).etagere = Etagere(self.CONFIG, values=self.etagere.values)
        self.assertTrue(self.asks(self.etagere, gone))
        self.assertFalse(self.asks(self.etagere, stays))

    def test_memcached_restarts(self):
        """Its journal is lost, the processes still know; one of them puts it back."""
        path = self.stored(fields={"Surrogate-Key": "g"})
        self.purge(tag="g")
        self.memcached.stop()
        self.memcached.start()
        self.journal_is_back()
        self.assertTrue(self.asks(self.etagere, path))
        wait_until(lambda: self.asks(self.other, path), "the other one to notice", POLL + 2)
        path = self.stored(fields={"Surrogate-Key": "g2"})
        self.purge(tag="g2")
        wait_until(lambda: self.asks(self.other, path), "the other one to notice", POLL + 2)

    def test_purged_while_memcached_is_down(self):
        path = self.stored(fields={"Surrogate-Key": "d"})
        self.memcached.stop()
        self.purge(tag="d", published=False)
        self.assertTrue(self.asks(self.etagere, path), "here at once")
        self.assertEqual(self.ask_at(self.other, path).why, "hit_fresh", "there nobody can know")
        self.assertGreater(self.etagere.metric("etagere_store_pending_purges"), 0)
        self.memcached.start()
        wait_until(lambda: self.asks(self.other, path), "the other one to be told when memcached is back", 5)
        wait_until(lambda: self.etagere.metric("etagere_store_pending_purges") == 0, "nothing to be owed any more")

    def test_cut_off_from_memcached(self):
        """As above, but what was purged is still in memcached afterwards."""
        proxy = FaultProxy(self.memcached)
        self.addCleanup(proxy.close)
        alone = self.start(MEMCACHED=f"127.0.0.1:{proxy.port}")
        path = self.stored(fields={"Surrogate-Key": "c"}, more=(alone,))
        proxy.refuse()
        proxy.set("hang")
        self.purge(alone, tag="c", published=False)
        self.assertTrue(self.asks(alone, path))
        proxy.set("pass")
        proxy.listen()
        wait_until(lambda: alone.metric("etagere_store_pending_purges") == 0, "the purge to be published", 10)
        wait_until(lambda: self.asks(self.other, path), "the other one to notice", POLL + 2)
        self.assertFalse(self.asks(self.other, path))

    def test_the_journal_is_lost_while_nobody_runs(self):
        """Then nobody knows what was purged: what was kept before is not used any more."""
        path = self.stored(fields={"Surrogate-Key": "g"})
        self.other.stop()
        self.etagere.stop()
        self.memcached.command(b"delete " + JOURNAL + b"\r\n")
        type(self).etagere = Etagere(self.CONFIG, values=self.etagere.values)
        self.assertTrue(self.asks(self.etagere, path))
        self.assertFalse(self.asks(self.etagere, path))

    def test_garbage_for_a_journal(self):
        good = self.memcached.value(JOURNAL)
        path = self.stored(fields={"Surrogate-Key": "g"})
        self.purge(tag="g")
        for garbage in (b"", b"x" * 5000, good[1][:-1], good[1][:20] + bytes([good[1][20] ^ 1]) + good[1][21:]):
            with self.subTest(garbage[:20]):
                before = self.etagere.metric("etagere_store_rejected_records_total", cause="corrupt")
                self.memcached.put(JOURNAL, 0, garbage)
                wait_until(lambda: self.memcached.value(JOURNAL)[1] != garbage, "the journal to be written anew")
                wait_until(lambda b=before: self.etagere.metric("etagere_store_rejected_records_total", cause="corrupt") +
                           self.other.metric("etagere_store_rejected_records_total", cause="corrupt") > b, "it to be counted")
        self.assertTrue(self.asks(self.etagere, path))
        fresh = self.start()
        self.purge(tag="after")
        self.assertEqual(self.ask_at(fresh, path).status, 200)

    def test_a_fetch_there_during_a_purge_here(self):
        path, hold = self.path(), threading.Event()
        self.origin.on(path, lambda e: (e.wait(hold), e.answer(200, {**FRESH, "Surrogate-Key": "late"}, b"old")))
        with self.other.client() as client:
            client.send(request("GET", path))
            self.origin.wait_hits(path, 1)
            self.purge(tag="late")
            self.origin.on(path, response(200, FRESH, b"new"))
            hold.set()
            self.assertEqual(client.read().body, b"old")
        wait_until(lambda: self.ask_at(self.other, path).body == b"new", "the late answer to be forgotten", POLL + 1)
        self.assertEqual(self.ask_at(self.etagere, path).body, b"new")

    def test_more_purges_than_are_told_apart(self):
        """More is purged than was asked for, never less, and the journal keeps its bound."""
        first, second = self.stored(fields={"Surrogate-Key": "f"}), self.stored()
        self.purge(tag="f")
        for turn in range(6):
            self.purge(tags=[f"o-{turn}-{n}" for n in range(1000)])
        fresh = self.start()
        for at in (self.etagere, fresh):
            self.assertTrue(self.asks(at, first) or at is fresh)
        self.assertTrue(self.asks(self.etagere, second), "older than what is remembered")
        self.assertLess(len(self.memcached.value(JOURNAL)[1]), 100_000)
        path = self.stored(fields={"Surrogate-Key": "g"})
        self.purge(tag="g")
        wait_until(lambda: self.asks(self.other, path), "the other one to notice", POLL + 1)


class Signed(Shared):
    SIGN = ", sign: { key: 0123456789abcdef }"


if __name__ == "__main__":
    unittest.main()
