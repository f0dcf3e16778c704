"""Which request goes where: host, path pattern, method, endpoints over TCP and a Unix socket."""

import tempfile
import unittest

from harness import Origin, SystemTest


class Routing(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
  other: { endpoints: ["@OTHER@", "@THIRD@"] }
  socket: { endpoints: ["@UNIX@"] }
  named: { endpoints: ["http://localhost:@PORT@"], host_header: upstream }
routes:
  - { name: writes, match: { path: "/api/**", methods: [POST, PUT] }, upstream: other }
  - { name: host, match: { host: "*.other.test", path: "/**" }, upstream: other }
  - { name: socket, match: { path: "/socket/{id}" }, upstream: socket }
  - { name: segment, match: { path: "/one/*" }, upstream: other }
  - { name: named, match: { path: "/named" }, upstream: named }
  - { name: api, match: { path: "/api/**" }, upstream: app }
"""

    @classmethod
    def prepare(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.other, cls.third, cls.socket = Origin(), Origin(), Origin(unix=directory.name + "/app.sock")
        cls.VALUES = {"OTHER": cls.other.url, "THIRD": cls.third.url, "UNIX": cls.socket.url,
                      "PORT": cls.origin.address[1]}
        for name, origin in (("app", cls.origin), ("other", cls.other), ("third", cls.third), ("socket", cls.socket)):
            cls.addClassCleanup(origin.stop)
            origin.default = lambda e, n=name: e.answer(200, {"Cache-Control": "no-store"}, n.encode())

    def test_host_path_and_method(self):
        other = {b"other", b"third"}
        for method, target, host, want in (
            ("GET", "/api/a", "shop.test", {b"app"}), ("GET", "/api/a/b", "shop.test", {b"app"}),
            ("POST", "/api/a", "shop.test", other), ("GET", "/x", "a.other.test", other),
            ("GET", "/x", "A.OTHER.test:8080", other), ("GET", "/socket/7", "shop.test", {b"socket"}),
            ("GET", "/socket/7?q=/8", "shop.test", {b"socket"}), ("GET", "/one/x", "shop.test", other),
            ("HEAD", "/api/a", "shop.test", {b""}), ("DELETE", "/api/a", "shop.test", {b"app"}),
        ):
            with self.subTest(method + target, host=host):
                got = self.ask(method, target, {"Host": host}, b"" if method == "POST" else None)
                self.assertEqual(got.status, 200)
                self.assertIn(got.body, want)

    def test_no_route(self):
        for target in ("/nothing", "/one/x/y", "/socket/7/8", "/", "/apiary", "/API/a"):
            with self.subTest(target):
                self.assertEqual(self.get(target).status, 404)
        self.assertEqual(self.get("/x", {"Host": "other.test"}).status, 404)

    def test_paths_that_try_to_leave_their_route(self):
        """What routing matches is what the origin gets: a path is never rewritten on the way."""
        for target in ("/api/../one/x", "/api/%2e%2e/one/x", "/api//one/x", "/api/..;/one"):
            with self.subTest(target):
                got = self.get(target)
                if got.status == 200:
                    self.assertEqual((got.body, self.origin.requests[-1].target), (b"app", target))
                else:
                    self.assertIn(got.status, (400, 404))

    def test_host_of_the_upstream(self):
        self.assertEqual(self.get("/named").status, 200)
        seen = self.origin.seen("/named")[0]
        self.assertEqual((seen["Host"], seen["X-Forwarded-Host"]), (f"localhost:{self.origin.address[1]}", "shop.test"))

    def test_endpoints_take_turns(self):
        bodies = [self.ask("POST", "/api/a", (), b"").body for _ in range(10)]
        self.assertGreaterEqual(min(bodies.count(b"other"), bodies.count(b"third")), 3)

    def test_z_dead_endpoint_costs_no_request(self):
        self.third.stop()
        self.assertEqual({self.get("/one/x").body for _ in range(6)}, {b"other"})


if __name__ == "__main__":
    unittest.main()
