"""Start, reload, drain and end (catalogue S285-S311): SIGTERM finishes what was begun, SIGHUP changes all or nothing."""

import signal
import tempfile
import threading
import unittest

from harness import Client, Etagere, Origin, SystemTest, WireError, request, response, run_cli, wait_until

FRESH = {"Cache-Control": "max-age=60"}
CONFIG = SystemTest.CONFIG


class Lifecycle(unittest.TestCase):
    def setUp(self):
        self.origin = Origin()
        self.addCleanup(self.origin.stop)
        self.origin.default = lambda e: e.answer(200, {"Cache-Control": "no-store"}, b"ok")

    def start(self, config=CONFIG, **more):
        etagere = Etagere(config, values={"ORIGIN": self.origin.url}, **more)
        self.addCleanup(etagere.kill)
        return etagere


class Ending(Lifecycle):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                etagere = self.start()
                etagere.signal(number)
                self.assertEqual(etagere.wait_exit(), 0)

    def test_requests_in_flight_are_finished(self):
        """S300: the listener closes first, what was begun is answered in full, then exit code 0."""
        go = threading.Event()
        self.addCleanup(go.set)
        self.origin.on("/slow", lambda e: (e.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcde"), e.wait(go), e.send(b"fghij")))
        self.origin.on("/waiting", lambda e: (e.wait(go), e.answer(200, (), b"whole")))
        etagere = self.start(CONFIG.replace('endpoints: ["@ORIGIN@"]', 'endpoints: ["@ORIGIN@"], pool: { max_connections: 64 }'))
        begun = [etagere.client() for _ in range(20)]
        for number, client in enumerate(begun):
            self.addCleanup(client.close)
            client.send(request("GET", f"/slow?{number}" if number % 2 else f"/waiting?{number}"))
        idle = etagere.client()
        self.addCleanup(idle.close)
        self.assertEqual(idle.ask("GET", "/").status, 200)
        self.origin.wait_for(lambda o: o.in_flight >= 20, "the requests to be under way")
        etagere.signal(signal.SIGTERM)

        def refused():
            try:
                Client(etagere.address, timeout=1).close()
                return False
            except OSError:
                return True
        wait_until(refused, "new connections to be refused")
        self.assertTrue(idle.closed(), "an idle connection is kept while draining")
        go.set()
        for number, client in enumerate(begun):
            got = client.read()
            self.assertEqual((got.status, got.body), (200, b"abcdefghij" if number % 2 else b"whole"))
            self.assertTrue(client.closed())
        self.assertEqual(etagere.wait_exit(), 0)

    def test_drain_deadline(self):
        """Exit code 5: connections were cut. A second signal does not wait at all."""
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.origin.on("/never", lambda e: (e.wait(hold), e.close()))
        for case, drain, signals in (("deadline", "300ms", 1), ("second signal", "60s", 2)):
            with self.subTest(case):
                etagere = self.start(CONFIG + f"shutdown: {{ drain: {drain} }}\n")
                client = etagere.client()
                self.addCleanup(client.close)
                before = self.origin.hits("/never")
                client.send(request("GET", "/never"))
                self.origin.wait_hits("/never", before + 1)
                etagere.signal(signal.SIGTERM)
                if signals == 2:
                    wait_until(lambda: not self.ready(etagere), "the drain to begin")
                    etagere.signal(signal.SIGTERM)
                self.assertEqual(etagere.wait_exit(10), 5)

    def ready(self, etagere):
        try:
            with Client(etagere.admin, timeout=1) as client:
                return client.ask("GET", "/readyz").status == 200
        except (OSError, WireError):
            return False

    def test_readiness_goes_first(self):
        etagere = self.start(CONFIG + "shutdown: { readiness_delay: 60s }\n")
        etagere.signal(signal.SIGTERM)
        wait_until(lambda: not self.ready(etagere), "readiness to be off")
        with Client(etagere.admin) as admin:
            self.assertEqual(admin.ask("GET", "/readyz").status, 503)
            self.assertEqual(admin.ask("GET", "/livez").status, 200)
        with etagere.client() as client:
            self.assertEqual(client.ask("GET", "/").status, 200)       # still served: the balancer needs time to notice
        etagere.signal(signal.SIGTERM)
        self.assertIn(etagere.wait_exit(10), (0, 5))

    def test_kill_and_start_again(self):
        """S302"""
        etagere = self.start()
        etagere.kill()
        self.start().stop()


class Reloading(Lifecycle):
    def test_new_rules_are_used_and_the_cache_is_kept(self):
        self.origin.on("/kept", response(200, FRESH, b"kept"))
        etagere = self.start()
        address = etagere.address
        with etagere.client() as client:
            client.ask("GET", "/kept")
            self.assertTrue(etagere.reload(CONFIG.replace("name: all", "name: renamed")))
            self.assertEqual(etagere.address, address)
            self.assertEqual(client.ask("GET", "/other").status, 200)
            self.assertEqual(etagere.access("/other")[0]["route"], "renamed")
        self.assertTrue(etagere.reload(CONFIG))
        with etagere.client() as client:
            self.assertEqual(client.ask("GET", "/kept").why, "hit_fresh")
        etagere.stop()

    def test_bad_file_changes_nothing(self):
        """S287"""
        etagere = self.start()
        for case, text in (("syntax", CONFIG + "routes: ["), ("unknown key", CONFIG + "timout: 5s\n"), ("empty", ""),
                           ("unknown upstream", CONFIG.replace("upstream: app", "upstream: nobody")),
                           ("unset variable", CONFIG.replace("@ORIGIN@", "${NOT_SET_ANYWHERE}"))):
            with self.subTest(case):
                self.assertFalse(etagere.reload(text))
                with etagere.client() as client:
                    self.assertEqual(client.ask("GET", "/").status, 200)
        self.assertTrue(etagere.reload(CONFIG))
        etagere.stop()

    def test_reload_under_load(self):
        """S301: no request fails, and nothing leaks."""
        self.origin.on("/hit", response(200, FRESH, b"hit"))
        etagere = self.start()
        stop, failures, done = threading.Event(), [], [0]

        def load():
            while not stop.is_set():
                with etagere.client() as client:
                    for target in ("/hit", "/miss", "/hit"):
                        try:
                            if client.ask("GET", target).status != 200:
                                failures.append(target)
                        except (WireError, OSError) as error:
                            failures.append(repr(error))
                        done[0] += 1
        threads = [threading.Thread(target=load) for _ in range(3)]
        for thread in threads:
            thread.start()
        etagere.reload(CONFIG)
        files = etagere.open_files()
        for number in range(30):
            self.assertTrue(etagere.reload(CONFIG.replace("name: all", f"name: all-{number % 3}")))
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertGreater(done[0], 30)
        wait_until(lambda: etagere.open_files() <= files + 10, "descriptors of old configurations to be closed")
        etagere.stop()

    def test_listener_comes_and_goes(self):
        etagere = self.start()
        more = CONFIG.replace("listeners:\n", 'listeners:\n  extra: { address: "127.0.0.1:0" }\n')
        self.assertTrue(etagere.reload(more))
        etagere.wait_log(event="listening", listener="extra")
        address = etagere.listeners["extra"]
        with Client(address) as client:
            self.assertEqual(client.ask("GET", "/").status, 200)
        self.assertTrue(etagere.reload(CONFIG))

        def refused():
            try:
                Client(address, timeout=1).close()
                return False
            except OSError:
                return True
        wait_until(refused, "the listener that was removed to be closed")
        del etagere.listeners["extra"]
        with etagere.client() as client:
            self.assertEqual(client.ask("GET", "/").status, 200)
        etagere.stop()

    def test_old_requests_end_under_the_old_rules(self):
        go = threading.Event()
        self.addCleanup(go.set)
        self.origin.on("/slow", lambda e: (e.wait(go), e.answer(200, (), b"slow")))
        etagere = self.start()
        client = etagere.client()
        self.addCleanup(client.close)
        client.send(request("GET", "/slow"))
        self.origin.wait_hits("/slow", 1)
        other = Origin()
        self.addCleanup(other.stop)
        other.default = lambda e: e.answer(200, {"Cache-Control": "no-store"}, b"other")
        self.assertTrue(etagere.reload(CONFIG.replace("@ORIGIN@", other.url)))
        with etagere.client() as second:
            self.assertEqual(second.ask("GET", "/").body, b"other")
        go.set()
        self.assertEqual(client.read().body, b"slow")
        self.assertEqual(client.ask("GET", "/").body, b"other")
        etagere.stop()


class Starting(Lifecycle):
    def run_with(self, config, **more):
        return run_cli("run", "-c", "/dev/stdin", stdin=config.replace("@ORIGIN@", self.origin.url), timeout=20, **more)

    def test_exit_codes(self):
        for case, arguments, code in (
            ("unknown command", ["frob"], 2), ("unknown flag", ["run", "--frob"], 2),
            ("run without file", ["run", "-c", "/nonexistent/etagere.yaml"], 3), ("check without file", ["check", "/nonexistent"], 3),
            ("check without argument", ["check"], 2), ("version", ["version"], 0), ("help", ["--help"], 0),
            ("healthcheck of nobody", ["healthcheck", "--admin", "127.0.0.1:1"], 1)):
            with self.subTest(case):
                self.assertEqual(run_cli(*arguments)[0], code)

    def test_invalid_configuration(self):
        code, out, err = self.run_with(CONFIG.replace("pool", "pol") + "timout: 5s\n")
        self.assertEqual(code, 3)
        self.assertIn("timout", out + err)

    def test_port_in_use(self):
        """S311: a clear error, and the one that runs does not notice."""
        etagere = self.start()
        host, port = etagere.address
        code, out, err = self.run_with(CONFIG.replace('ingress: { address: "127.0.0.1:0" }', f'ingress: {{ address: "{host}:{port}" }}'))
        self.assertEqual(code, 4, out + err)
        self.assertIn(str(port), out + err)
        with etagere.client() as client:
            self.assertEqual(client.ask("GET", "/").status, 200)
        etagere.stop()

    def test_four_line_file(self):
        config = 'version: 1\nlisten: "127.0.0.1:0"\nupstream: @ORIGIN@\nstore: memory\nlisteners: { admin: { address: "127.0.0.1:0", role: admin } }\n'
        etagere = self.start(config)
        self.origin.on("/", response(200, FRESH, b"hello"))
        with etagere.client() as client:
            self.assertEqual([client.ask("GET", "/").why for _ in range(2)], ["miss_cold", "hit_fresh"])
        etagere.stop()

    def test_variables(self):
        etagere = self.start(CONFIG.replace("@ORIGIN@", "http://127.0.0.1:${APP_PORT}"), env={"APP_PORT": str(self.origin.address[1])})
        with etagere.client() as client:
            self.assertEqual(client.ask("GET", "/").status, 200)
        etagere.stop()

    def test_healthcheck(self):
        etagere = self.start()
        admin = "%s:%d" % etagere.admin
        for more in ([], ["--ready"]):
            self.assertEqual(run_cli("healthcheck", "--admin", admin, *more)[0], 0)
        etagere.stop()
        self.assertEqual(run_cli("healthcheck", "--admin", admin)[0], 1)

    def test_unix_socket_listener(self):
        with tempfile.TemporaryDirectory() as directory:
            path = directory + "/etagere.sock"
            config = CONFIG.replace('ingress: { address: "127.0.0.1:0" }', f'ingress: {{ address: "unix:{path}" }}')
            for _ in range(2):                                # the second start finds a path left behind or not
                etagere = self.start(config)
                with Client(path) as client:
                    self.assertEqual(client.ask("GET", "/").status, 200)
                etagere.stop()

    def test_signals_that_mean_nothing(self):
        """S308: SIGPIPE, and clients that are gone before they are accepted."""
        etagere = self.start()
        for _ in range(50):
            Client(etagere.address).reset()
        for _ in range(20):
            client = etagere.client()
            client.send(request("GET", "/"))
            client.reset()
        etagere.signal(signal.SIGPIPE)
        with etagere.client() as client:
            self.assertEqual(client.ask("GET", "/").status, 200)
        etagere.stop()

    def test_secrets_stay_out_of_the_log(self):
        """S283"""
        config = CONFIG.replace("role: admin }", "role: admin, token: \"${SECRET_TOKEN}\" }")
        etagere = self.start(config, env={"SECRET_TOKEN": "a-very-secret-token"})
        with Client(etagere.admin) as admin:
            self.assertEqual(admin.ask("GET", "/metrics", {"Authorization": "Bearer a-very-secret-token"}).status, 200)
        etagere.stop()
        self.assertNotIn("a-very-secret-token", etagere.tail(1000))


if __name__ == "__main__":
    unittest.main()
