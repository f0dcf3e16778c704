"""No-Vary-Search (draft-ietf-httpbis-no-vary-search): one answer for URLs whose queries mean the same to their origin."""

import threading
import unittest

from harness import Etagere, Memcached, SystemTest, wait_until

FRESH = {"Cache-Control": "max-age=60"}


class Asking(SystemTest):
    def tells(self, rule, *, status=200, more=()):
        """A path whose origin says `rule` (text, or a function of the query) and whose body is the query it was asked."""
        path = self.path()

        def handler(exchange):
            said = rule(exchange.request.target.partition("?")[2]) if callable(rule) else rule
            fields = [*FRESH.items(), *more]
            fields += [("No-Vary-Search", line) for line in ([said] if isinstance(said, str) else said or [])]
            exchange.answer(status, fields, exchange.request.target.partition("?")[2].encode())
        self.origin.on(path, handler)
        return path

    def bodies(self, path, *queries):
        return [self.get(path + query).body.decode() for query in queries]


class Equivalent(Asking):
    def test_parameters_that_do_not_matter(self):
        path = self.tells('params=("utm_source" "%C3%A9")')
        self.assertEqual(self.bodies(path, "?id=1&utm_source=a", "?utm_source=b&id=1", "?id=1", "?%c3%a9=1&id=1",
                                     "?id=1&utm_source=a"), ["id=1&utm_source=a"] * 5)
        self.assertEqual(self.bodies(path, "?id=2&utm_source=a", "?id=2"), ["id=2&utm_source=a"] * 2)
        self.assertEqual(self.origin.hits(path), 2)

    def test_order(self):
        path = self.tells("key-order")
        self.assertEqual(self.bodies(path, "?b=1&a=2&b=0", "?a=2&b=1&b=0", "?b=1&b=0&a=2"), ["b=1&a=2&b=0"] * 3)
        self.assertEqual(self.bodies(path, "?b=0&a=2&b=1"), ["b=0&a=2&b=1"])
        self.assertEqual(self.origin.hits(path), 2)

    def test_all_but_some(self):
        path = self.tells('params, except=("id")')
        self.assertEqual(self.bodies(path, "?id=1&x=1", "?y=2&id=1", "?id=1"), ["id=1&x=1"] * 3)
        self.assertEqual(self.bodies(path, "?x=1", "", "?z=9"), ["x=1"] * 3)
        self.assertEqual(self.bodies(path, "?id=2"), ["id=2"])
        self.assertEqual(self.origin.hits(path), 3)

    def test_several_lines_are_one_value(self):
        path = self.tells(["key-order", 'params=("x")'])
        self.assertEqual(self.bodies(path, "?b=1&a=2&x", "?a=2&x=3&b=1"), ["b=1&a=2&x"] * 2)

    def test_head_and_conditions(self):
        path = self.tells('params=("x")', more=[("ETag", '"v"')])
        self.get(path + "?x=1")
        self.assertEqual(self.ask("HEAD", path + "?x=2")["ETag"], '"v"')
        self.assertEqual(self.get(path + "?x=3", {"If-None-Match": '"v"'}).status, 304)
        self.assertEqual(self.origin.hits(path), 1)
        path = self.tells('params=("x")')
        self.ask("HEAD", path + "?x=1")
        self.assertEqual(self.bodies(path, "?x=2"), ["x=1"])

    def test_other_paths_and_hosts_are_others(self):
        path = self.tells('params=("x")')
        self.bodies(path, "?x=1")
        other = self.path()
        self.origin.on(other, lambda e: e.answer(200, FRESH, e.request.target.encode()))
        self.assertEqual(self.bodies(other, "?x=1", "?x=2"), [other + "?x=1", other + "?x=2"])
        self.get(path + "?x=2", {"Host": "other.test"})
        self.assertEqual(self.origin.hits(path), 2)

    def test_vary_selects_as_ever(self):
        path = self.tells('params=("x")', more=[("Vary", "X-A")])
        self.get(path + "?x=1", {"X-A": "a"})
        self.get(path + "?x=2", {"X-A": "b"})
        self.assertEqual(self.get(path + "?x=3", {"X-A": "a"}).body, b"x=1")
        self.assertEqual(self.get(path + "?x=3", {"X-A": "b"}).body, b"x=2")
        self.assertEqual(self.origin.hits(path), 2)


class NotEquivalent(Asking):
    def test_invalid_rules_have_no_effect(self):
        for rule in ("params=(x)", "params=\"x\"", "Params", "params,", "except=(\"x\")", "params=(\"y\"), except=(\"x\")",
                     "params=?0", "params=()", "key-order=1", "params=(\"x\"", "unknown", "params, except=x", "", "*",
                     ["params=(\"x\")", "key-order=("]):
            with self.subTest(rule):
                path = self.tells(rule)
                self.assertEqual(self.bodies(path, "?x=1", "?x=2", "?x=1"), ["x=1", "x=2", "x=1"])
                self.assertEqual(self.origin.hits(path), 2)

    def test_what_origins_may_read_is_not_left_out(self):
        """Poisoning by a parameter that hides from étagère only: separators, escapes, brackets, case."""
        path = self.tells('params, except=("id")')
        self.assertEqual(self.bodies(path, "?x=1"), ["x=1"])
        for query in ("id[]=1", "id%5B%5D=1", "ID=1", "x=1;id=2", "x=%zz&id=1", "x=%ff", "i%64=1", "=1", "id.x=1", "x=%00"):
            with self.subTest(query):
                self.assertEqual(self.bodies(path, "?" + query), [query])
        path = self.tells('params=("x")')
        self.assertEqual(self.bodies(path, "?x=1&id=1"), ["x=1&id=1"])
        for query in ("x=1;id=2&id=1", "x[]=1&id=1", "X=1&id=1", "id=1;x=2"):
            with self.subTest(query):
                self.assertEqual(self.bodies(path, "?" + query), [query])

    def test_only_answers_that_say_so_stand_for_others(self):
        """One answer of a path has the rule, another has not: that one is for its own URL."""
        path = self.tells(lambda query: 'params=("x")' if "plain" not in query else None)
        self.assertEqual(self.bodies(path, "?x=1"), ["x=1"])
        self.assertEqual(self.bodies(path, "?plain=1&x=1", "?plain=1&x=2", "?plain=1", "?plain=1&x=1"),
                         ["plain=1&x=1", "plain=1&x=2", "plain=1", "plain=1&x=1"])
        self.assertEqual(self.origin.hits(path), 4)

    def test_the_last_rule_counts(self):
        path = self.tells(lambda query: 'params=("y")' if "new" in query else 'params=("x")')
        self.assertEqual(self.bodies(path, "?x=1", "?x=2"), ["x=1", "x=1"])
        self.assertEqual(self.bodies(path, "?new&y=1", "?new&y=2"), ["new&y=1", "new&y=1"])
        self.assertEqual(self.bodies(path, "?x=3"), ["x=3"])
        self.assertEqual(self.bodies(path, "?x=4"), ["x=3"])

    def test_what_is_not_kept_has_no_rule(self):
        path = self.tells('params=("x")', more=[("Cache-Control", "no-store")])
        self.assertEqual(self.bodies(path, "?x=1", "?x=2", "?x=1"), ["x=1", "x=2", "x=1"])

    def test_a_route_may_not_believe_it(self):
        path = self.tells('params=("x")')
        for query in ("?x=1", "?x=2"):
            self.assertEqual(self.get(path + query, {"Host": "strict.test"}).body.decode(), query[1:])

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
routes:
  - { name: strict, match: { host: strict.test, path: "/**" }, upstream: app, cache: { no_vary_search: false } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""


class Living(Asking):
    """Validation, invalidation and collapsing of what several URLs share."""

    def validated(self, rule, rule_of_304=None):
        path = self.path()

        def handler(exchange):
            fields = {"Cache-Control": "max-age=0", "ETag": '"v"', "No-Vary-Search": rule}
            if exchange.request["If-None-Match"] == '"v"':
                if rule_of_304:
                    fields["No-Vary-Search"] = rule_of_304
                exchange.answer(304, fields)
            else:
                exchange.answer(200, fields, exchange.request.target.partition("?")[2].encode())
        self.origin.on(path, handler)
        return path

    def test_validation_asks_with_the_clients_own_url(self):
        path = self.validated('params=("x")')
        self.assertEqual(self.bodies(path, "?x=1", "?x=2", "?x=3"), ["x=1"] * 3)
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "conditional"])
        self.assertEqual([r.target for r in self.origin.seen(path)], [path + f"?x={n}" for n in (1, 2, 3)])

    def test_a_304_that_changes_the_rule_ends_it(self):
        path = self.validated('params=("x")', 'params=("y")')
        self.assertEqual(self.bodies(path, "?x=1", "?x=2", "?x=3"), ["x=1", "x=1", "x=3"])
        self.assertEqual(self.origin.asked(path), ["full", "conditional", "full"])

    def test_unsafe_methods_make_all_of_them_obsolete(self):
        for written in ("?x=9", "?x=1", ""):
            with self.subTest(written):
                count = 0
                path = self.path()

                def handler(exchange):
                    nonlocal count
                    count += 1
                    exchange.answer(200, {**FRESH, "No-Vary-Search": 'params=("x")'}, str(count).encode())
                self.origin.on(path, handler)
                self.assertEqual(self.bodies(path, "?x=1", "?x=2", ""), ["1"] * 3)
                self.ask("POST", path + written, body=b"")
                self.assertEqual(self.bodies(path, "?x=1", "?x=2", "", "?x=9"), ["3"] * 4)

    def test_equivalent_requests_share_one_fetch(self):
        path, gate = self.path(), threading.Event()

        def handler(exchange):
            query = exchange.request.target.partition("?")[2]
            if "slow" in query:
                exchange.wait(gate)
            exchange.answer(200, {**FRESH, "No-Vary-Search": 'params=("x")'}, query.encode())
        self.origin.on(path, handler)
        self.get(path)                                                  # the rule is known from here on
        answers = []

        def ask(number):
            with self.etagere.client() as client:
                answers.append(client.ask("GET", f"{path}?slow&x={number}").body)
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        wait_until(lambda: self.origin.hits(path) == 2, "the first of them to ask")
        gate.set()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(answers)), 1)
        self.assertEqual((len(answers), self.origin.hits(path)), (8, 2))

    def test_followers_of_an_answer_without_the_rule_get_their_own(self):
        path, gate = self.path(), threading.Event()

        def handler(exchange):
            query = exchange.request.target.partition("?")[2]
            if "slow" in query:
                exchange.wait(gate)
            rule = {} if "slow" in query else {"No-Vary-Search": 'params=("x")'}
            exchange.answer(200, {**FRESH, **rule}, query.encode())
        self.origin.on(path, handler)
        self.get(path)
        answers = {}

        def ask(number):
            with self.etagere.client() as client:
                answers[number] = client.ask("GET", f"{path}?slow&x={number}").body.decode()
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        wait_until(lambda: self.origin.hits(path) == 2, "the first of them to ask")
        gate.set()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, {n: f"slow&x={n}" for n in range(6)})

    def test_a_reload_forgets_nothing(self):
        path = self.tells('params=("x")')
        self.bodies(path, "?x=1")
        self.assertTrue(self.etagere.reload())
        self.assertEqual(self.bodies(path, "?x=2"), ["x=1"])


class Shared(Asking):
    """Through memcached, by processes that have not seen the rule yet."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 0 }, memcached: { servers: "@MEMCACHED@", timeout: 2s } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    @classmethod
    def prepare(cls):
        cls.memcached = Memcached()
        cls.addClassCleanup(cls.memcached.close)
        cls.VALUES = {"MEMCACHED": f"127.0.0.1:{cls.memcached.port}"}

    def test_who_knows_the_rule_finds_what_another_stored(self):
        path = self.tells('params=("x")')
        self.get(path + "?id=1&x=1")
        wait_until(lambda: self.get(path + "?id=1&x=2").why == "hit_fresh", "the answer to be kept")
        hits = self.origin.hits(path)
        other = Etagere(self.CONFIG, values=self.etagere.values)
        try:
            with other.client() as client:
                # Nobody told it the rule: by the simplified URL it meets the answer, and the rule with it.
                self.assertEqual(client.ask("GET", path + "?id=1").why, "hit_fresh")
                self.assertEqual(client.ask("GET", path + "?x=3&id=1").why, "hit_fresh")
                self.assertEqual(client.ask("GET", path + "?x=3&id=2").body, b"x=3&id=2")
        finally:
            other.stop()
        self.assertEqual(self.origin.hits(path), hits + 1)

    def test_answers_without_the_rule_are_found_too(self):
        path = self.tells(lambda query: 'params=("x")' if "plain" not in query else None)
        for query in ("?x=1", "?plain&x=1", "?plain&x=2"):
            self.get(path + query)
            wait_until(lambda q=query: self.get(path + q).why == "hit_fresh", f"{query} to be kept")
        hits = self.origin.hits(path)
        self.assertEqual(self.bodies(path, "?x=5", "?plain&x=1", "?plain&x=2"), ["x=1", "plain&x=1", "plain&x=2"])
        self.assertEqual(self.origin.hits(path), hits)


if __name__ == "__main__":
    unittest.main()
