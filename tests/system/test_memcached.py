"""memcached as the store: what is kept there, and who may share it (catalogue S240-S264, bug cases B91-B98)."""

import re
import unittest

from harness import Etagere, FaultProxy, Memcached, SystemTest, response, validating, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class MemcachedTest(SystemTest):
    """étagère without a memory level, so that every hit comes out of memcached."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 0 }, memcached: { servers: "@MEMCACHED@", timeout: 2s, purge_poll: 50ms } }
routes:
  - { name: second, match: { host: second.test, path: "/**" }, upstream: app }
  - { name: all, match: { path: "/**" }, upstream: app }
"""
    OPTIONS = ()

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached(*cls.OPTIONS)
        cls.addClassCleanup(cls.memcached.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}"}

    def store(self, path, raw, ask=()):
        """Asks once and waits until the write behind the answer has reached memcached: a hit says so."""
        self.origin.on(path, raw)
        first = self.get(path, ask)
        wait_until(lambda: self.get(path, ask).why == "hit_fresh", f"{path} to be kept in memcached")
        return first

    def records(self, count, body=lambda path: path.encode()):
        """`count` stored answers with bodies of their own; returns their paths, and all records as {key: (flags, data)}."""
        self.memcached.flush()
        wait_until(lambda: self.memcached.value(b"etagere:v2:purges"), "the journal of purges to be put back")
        paths = [self.path() for _ in range(count)]
        for path in paths:
            self.origin.on(path, response(200, FRESH, body(path)))
            self.get(path)
        for path in paths:
            wait_until(lambda p=path: self.get(p).why == "hit_fresh", f"{path} to be kept in memcached")
        return paths, self.memcached.records(lambda found: len(found) >= 2 * count)


class Keeping(MemcachedTest):
    def test_hit_304_and_revalidation(self):
        path = self.path()
        first = self.store(path, response(200, {**FRESH, "ETag": '"v1"', "X-A": "b"}, b"body"))
        hits = self.origin.hits(path)
        got = self.get(path)
        self.assertEqual((got.body, got["ETag"], got["X-A"], got["Date"]), (b"body", '"v1"', "b", first["Date"]))
        self.assertEqual(self.get(path, {"If-None-Match": '"v1"'}).status, 304)
        self.assertEqual(self.origin.hits(path), hits)

    def test_kept_beyond_freshness_to_be_revalidated(self):
        path = self.path()
        self.origin.on(path, validating('"v1"', b"body", {"Cache-Control": "public"}, {"Cache-Control": "public"}))
        self.get(path)
        wait_until(lambda: self.get(path).why == "revalidated", "the answer to be kept")
        got = self.get(path)
        self.assertEqual((got.body, self.origin.asked(path)[-1]), (b"body", "conditional"))

    def loads(self):
        counted = lambda op: sum(self.etagere.metric("etagere_store_operations_total", op=op, result=result)
                                 for result in ("ok", "miss"))
        return counted("load"), counted("load_body")

    def test_what_a_request_has_loaded_it_does_not_load_again(self):
        fresh, stale, absent = self.path(), self.path(), self.path()
        self.store(fresh, response(200, {**FRESH, "ETag": '"v1"'}, b"body"))
        kept = {"Cache-Control": "no-cache"}
        self.origin.on(stale, validating('"v1"', b"body", kept, kept))
        self.origin.on(absent, response(200, {"Cache-Control": "no-store"}, b"body"))
        self.get(stale)
        wait_until(lambda: self.get(stale).why == "revalidated", "the answer to be kept")
        self.get(fresh)
        for path, ask, why, bodies in ((fresh, {}, "hit_fresh", 1), (fresh, {"If-None-Match": '"v1"'}, "hit_not_modified", 0),
                                       (stale, {}, "revalidated", 1), (absent, {}, "nostore_no_store", 0)):
            with self.subTest(why=why):
                before = self.loads()
                got = self.get(path, ask)
                self.assertEqual(got.why, why)
                if got.status == 200:
                    self.assertEqual(got.body, b"body")
                self.assertEqual(self.loads(), (before[0] + 1, before[1] + bodies))

    def test_two_share_one_memcached(self):
        path = self.path()
        self.store(path, response(200, FRESH, b"shared"))
        hits = self.origin.hits(path)
        other = Etagere(self.CONFIG, values=self.etagere.values)
        try:
            with other.client() as client:
                got = client.ask("GET", path)
            self.assertEqual((got.body, got.why), (b"shared", "hit_fresh"))
        finally:
            other.stop()
        self.assertEqual(self.origin.hits(path), hits)

    def test_write_through_one_is_seen_by_the_other(self):
        path = self.path()
        self.store(path, response(200, FRESH, b"old"))
        other = Etagere(self.CONFIG, values=self.etagere.values)
        try:
            with other.client() as client:
                self.assertEqual(client.ask("GET", path).body, b"old")
                self.origin.on(path, response(200, (), b"done"))
                self.assertEqual(self.ask("POST", path, (), b"x").status, 200)
                self.origin.on(path, response(200, FRESH, b"new"))
                wait_until(lambda: client.ask("GET", path).body == b"new", "the other one to forget the old answer")
        finally:
            other.stop()

    def test_restart_keeps_the_cache(self):
        """S302: and nothing half written is served after a kill."""
        path = self.path()
        self.store(path, response(200, FRESH, b"kept"))
        hits = self.origin.hits(path)
        first = Etagere(self.CONFIG, values=self.etagere.values)
        first.kill()
        second = Etagere(self.CONFIG, values=self.etagere.values)
        try:
            with second.client() as client:
                self.assertEqual(client.ask("GET", path).why, "hit_fresh")
        finally:
            second.stop()
        self.assertEqual(self.origin.hits(path), hits)

    def test_lifetimes_above_thirty_days(self):
        """B95: memcached reads more than 30 days as a date of 1970."""
        for lifetime in (30 * 86400 + 1, 31536000, 10 ** 11):
            self.store(self.path(), response(200, {"Cache-Control": f"max-age={lifetime}"}, b"long"))

    def test_variants(self):
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, {**FRESH, "Vary": "X-A"}, e.request["X-A"].encode()))
        for value in "abc":
            self.get(path, {"X-A": value})
            wait_until(lambda v=value: self.get(path, {"X-A": v}).why == "hit_fresh", "the variant to be kept")
        for value in "abc":
            self.assertEqual(self.get(path, {"X-A": value}).body, value.encode())

    def test_routes_and_hosts_do_not_share(self):
        """S247"""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(200, FRESH, e.request["Host"].encode()))
        for host in ("shop.test", "second.test", "shop.test", "second.test", "third.test"):
            self.assertEqual(self.get(path, {"Host": host}).body, host.encode())

    def test_equal_bodies_are_kept_once(self):
        self.memcached.flush()
        wait_until(lambda: self.memcached.value(b"etagere:v2:purges"), "the journal of purges to be put back")
        body = b"the same bytes " * 100
        before = self.memcached.stat("curr_items")
        for _ in range(5):
            self.store(self.path(), response(200, FRESH, body))
        self.assertEqual(self.memcached.stat("curr_items") - before, 6)      # five heads, one body


class Wire(MemcachedTest):
    def test_keys_hold_no_client_bytes(self):
        """S240: command injection by URL; RFC 3986 says little about what clients send."""
        proxy = FaultProxy(self.memcached)
        self.addCleanup(proxy.close)
        values = {**self.etagere.values, "MEMCACHED": f"127.0.0.1:{proxy.port}"}
        etagere = Etagere(self.CONFIG, values=values)
        try:
            for target in ("/a%20b", "/a%0d%0aset%20x%200%200%201", "/" + "k" * 7000, "/%00", "/%c3%a9", "/?q=" + "v" * 300,
                           "/a'b(c)", "/flush_all"):
                self.origin.on(target.split("?")[0], response(200, FRESH, target.encode()))
                with etagere.client() as client:
                    wait_until(lambda c=client, t=target: c.ask("GET", t).why == "hit_fresh", "the answer to be kept")
                    self.assertEqual(client.ask("GET", target).body, target.encode())
        finally:
            etagere.stop()
        keys = self.memcached.keys()
        self.assertGreater(len(keys), 8)
        for key in keys:
            self.assertRegex(key, rb"\A[A-Za-z0-9:._-]{10,250}\Z")
        commands = re.findall(rb"(?m)^(?:get|gets|set|add|delete|touch|mg|ms|md) [^\r\n]*", proxy.wire())
        self.assertGreater(len(commands), 8)
        for command in commands:
            self.assertNotRegex(command, rb"kkkk|/a|%|flush")


class Lies(MemcachedTest):
    def test_one_bit_at_every_byte(self):
        """S243: any damage is a miss and a counter."""
        paths, originals = self.records(150, lambda path: (path * 40)[:200].encode())
        longest = max(len(data) for _, data in originals.values())
        for number, (key, (flags, data)) in enumerate(originals.items()):
            at = number * max(1, longest // len(originals)) % len(data)
            self.memcached.put(key, flags, data[:at] + bytes([data[at] ^ (1 << number % 8)]) + data[at + 1:])
        before = {path: self.origin.hits(path) for path in paths}
        for path in paths:
            self.assertEqual(self.get(path).body, (path * 40)[:200].encode())
        self.assertEqual([p for p in paths if self.origin.hits(p) == before[p]], [], "a damaged record was a hit")
        self.assertGreater(self.etagere.metric("etagere_store_rejected_records_total", cause="corrupt"), 0)

    def test_truncated_empty_and_foreign_values(self):
        paths, records = self.records(40)
        for number, (key, (flags, data)) in enumerate(records.items()):
            self.memcached.put(key, flags, (data[:len(data) // 2], b"", data + b"x", b"\x04\x08{", data[1:])[number % 5])
        before = {path: self.origin.hits(path) for path in paths}
        for path in paths:
            self.assertEqual(self.get(path).body, path.encode())
        self.assertEqual([p for p in paths if self.origin.hits(p) == before[p]], [])

    def test_records_under_each_others_keys(self):
        """S244: what was written for one key never answers another."""
        paths, records = self.records(40)
        values = list(records.values())
        for key, (flags, data) in zip(records, values[1:] + values[:1]):
            self.memcached.put(key, flags, data)
        for path in paths:
            self.assertEqual(self.get(path).body, path.encode())

    def test_lost_records(self):
        """B98: the head is there, the body gone; and the other way round."""
        for kind in (b":m:", b":e:"):                         # meta, entity
            paths, records = self.records(20)
            lost = [key for key in records if kind in key]
            self.assertGreaterEqual(len(lost), 20)
            for key in lost:
                self.memcached.command(b"delete " + key + b"\r\n")
            for path in paths:
                got = self.get(path)
                self.assertEqual((got.status, got.body), (200, path.encode()))

    def test_lost_body_is_not_revalidated(self):
        """B98: no condition without the bytes to serve; a 304 would leave an empty 200."""
        path, body = self.path(), b"the only body of its kind"
        self.origin.on(path, validating('"v1"', body, {"Cache-Control": "public"}, {"Cache-Control": "public"}))
        self.get(path)
        wait_until(lambda: self.get(path).why == "revalidated", "the answer to be kept")
        found = self.memcached.records(lambda all: any(body in data for _, data in all.values()))
        [key] = [key for key, (_, data) in found.items() if body in data]
        self.memcached.command(b"delete " + key + b"\r\n")
        got = self.get(path)
        self.assertEqual((got.status, got.body, got.why), (200, body, "miss_evicted_body"))
        self.assertEqual(self.origin.asked(path)[-1], "full")

    def test_flush_and_restart_in_traffic(self):
        """S256"""
        path = self.path()
        self.store(path, response(200, FRESH, b"body"))
        hits = self.origin.hits(path)
        self.memcached.flush()
        self.assertEqual(self.get(path).body, b"body")
        self.assertEqual(self.origin.hits(path), hits + 1)
        self.memcached.stop()
        for _ in range(5):
            self.assertEqual(self.get(path).body, b"body")
        self.memcached.start()
        wait_until(lambda: self.get(path).why == "hit_fresh", "memcached to be used again")


class LargeObjects(MemcachedTest):
    def test_chunks(self):
        """B91, S241: above the item limit, and exactly around it."""
        for size in (900 * 1024, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 1_500_000, 5_000_000):
            with self.subTest(size):
                path, body = self.path(), bytes(range(256)) * (size // 256) + b"x" * (size % 256)
                self.store(path, response(200, FRESH, body))
                hits = self.origin.hits(path)
                self.assertEqual(self.get(path).body, body)
                self.assertEqual(self.origin.hits(path), hits)

    def test_lost_chunk(self):
        path, body = self.path(), bytes(range(256)) * 10_000
        self.memcached.flush()
        self.store(path, response(200, FRESH, body))
        records = self.memcached.records(lambda found: sum(len(data) for _, data in found.values()) > len(body))
        largest = max(records, key=lambda key: len(records[key][1]))
        self.memcached.command(b"delete " + largest + b"\r\n")
        self.assertEqual(self.get(path).body, body)

    def test_too_large_streams_through(self):
        path, body = self.path(), b"y" * (33 << 20)
        self.origin.on(path, response(200, FRESH, body))
        for _ in range(2):
            got = self.get(path)
            self.assertEqual((got.body == body, got.why), (True, "nostore_too_large"))
        self.assertEqual(self.origin.hits(path), 2)


class SmallItems(MemcachedTest):
    """S241: a server whose item limit is below our chunk size."""
    OPTIONS = ("-I", "64k", "-o", "slab_chunk_max=32768")

    def test_no_wrong_hit(self):
        for size in (10_000, 60_000, 70_000, 500_000):
            path, body = self.path(), b"z" * size
            self.origin.on(path, response(200, FRESH, body))
            for _ in range(3):
                self.assertEqual(self.get(path).body, body)


class SeveralServers(MemcachedTest):
    @classmethod
    def prepare(cls):
        cls.servers = [Memcached() for _ in range(3)]
        for server in cls.servers:
            cls.addClassCleanup(server.close)
        cls.VALUES = {"MEMCACHED": ",".join(f"127.0.0.1:{server.port}" for server in cls.servers)}

    def test_one_of_three_dies(self):
        """S264: it takes its own share with it, and nothing else."""
        paths = [self.path() for _ in range(60)]
        for path in paths:
            self.store(path, response(200, FRESH, b"one body for all"))
        self.assertGreater(min(server.stat("curr_items") for server in self.servers), 5)
        holders = []

        def body_found():
            holders[:] = [server for server in self.servers
                          if any(b"one body" in data for _, data in server.records().values())]
            return len(holders) == 1
        wait_until(body_found, "one server to list the body")
        next(server for server in self.servers if server is not holders[0]).stop()
        before = {path: self.origin.hits(path) for path in paths}
        for path in paths:
            self.assertEqual(self.get(path).body, b"one body for all")
        kept = sum(self.origin.hits(path) == before[path] for path in paths)
        self.assertGreater(kept, 20)
        self.assertLess(kept, 60)


if __name__ == "__main__":
    unittest.main()
