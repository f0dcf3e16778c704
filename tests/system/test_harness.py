"""The harness judges étagère, so it is judged first: its reader must refuse what is not HTTP/1.1."""

import threading
import unittest

from harness import Client, Memcached, FaultProxy, Origin, WireError, chunked, many, request, response


class ReaderIsStrict(unittest.TestCase):
    def setUp(self):
        self.origin = Origin()
        self.addCleanup(self.origin.stop)

    def read(self, data):
        self.origin.on("/", lambda exchange: (exchange.send(data), exchange.close()))
        with Client(self.origin.address) as client:
            return client.ask("GET", "/")

    def test_refuses(self):
        for name, data in (
            ("both framings", b"HTTP/1.1 200 A\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("two lengths", b"HTTP/1.1 200 A\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"),
            ("signed length", b"HTTP/1.1 200 A\r\nContent-Length: +1\r\n\r\na"),
            ("short body", b"HTTP/1.1 200 A\r\nContent-Length: 2\r\n\r\na"),
            ("no last chunk", b"HTTP/1.1 200 A\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"),
            ("chunk extension", b"HTTP/1.1 200 A\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\n\r\n"),
            ("bare LF", b"HTTP/1.1 200 A\nContent-Length: 0\r\n\r\n"),
            ("space before colon", b"HTTP/1.1 200 A\r\nContent-Length : 0\r\n\r\n"),
            ("folded field", b"HTTP/1.1 200 A\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n"),
            ("control character", b"HTTP/1.1 200 A\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n"),
            ("no length on a kept connection", b"HTTP/1.1 200 A\r\n\r\na"),
            ("no status", b"HTTP/1.1 A\r\n\r\n"),
        ):
            with self.subTest(name):
                with self.assertRaises(WireError):
                    self.read(data)

    def test_accepts(self):
        got = self.read(b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n" + response(
            200, [("Transfer-Encoding", "chunked"), ("X", "1"), ("x", "2")], chunked(b"ab", b"c", trailers=[("T", "v")])))
        self.assertEqual((got.status, got.body, got["X"], got.trailers.get("T"), got.interim[0].status),
                         (200, b"abc", "1, 2", "v", 103))

    def test_origin_reports_ambiguous_requests(self):
        with Client(self.origin.address) as client:
            client.send(request("POST", "/", {"Content-Length": "1", "Transfer-Encoding": "chunked"}, b"0\r\n\r\n"))
            self.assertTrue(client.closed())
        self.assertEqual(len(self.origin.violations), 1)

    def test_origin_answers_in_sequence_and_counts(self):
        hold = threading.Event()
        self.origin.on("/", [response(200, (), b"one"), lambda e: (e.wait(hold), e.answer(200, (), b"two"))])
        with Client(self.origin.address) as client:
            self.assertEqual(client.ask("GET", "/").body, b"one")
            client.send(request("GET", "/"))
            self.origin.wait_hits("/", 2)
            self.assertEqual(self.origin.in_flight, 1)
            hold.set()
            self.assertEqual(client.read().body, b"two")

    def test_many_carries_errors(self):
        with self.assertRaises(ZeroDivisionError):
            many(3, lambda index: 1 // (index - 1))


class FaultsReachTheClient(unittest.TestCase):
    def setUp(self):
        self.server = Memcached()
        self.addCleanup(self.server.close)
        self.proxy = FaultProxy(self.server)
        self.addCleanup(self.proxy.close)
        for key in (b"a", b"b"):
            self.server.put(key, 5, key * 4)

    def reply(self, fault, argument=0):
        self.proxy.set(fault, argument)
        with Client(self.proxy.address, timeout=0.3) as client:
            client.send(b"get a\r\n")
            try:
                return client.reader.to_eof() + (b"RST" if client.reader.was_reset else b"")
            except TimeoutError:
                return client.reader.buffer + (b"RST" if client.reader.was_reset else b"")

    def test_faults(self):
        good = b"VALUE a 5 4\r\naaaa\r\nEND\r\n"
        with Client(self.proxy.address) as client:
            client.send(b"get b\r\n")
            client.reader.until(b"END\r\n", "reply")
        for fault, argument, reply in (
            ("pass", 0, good),
            ("flip", 2, b"VALUE a 5 4\r\naa`a\r\nEND\r\n"),
            ("swap", 0, b"VALUE a 5 4\r\nbbbb\r\nEND\r\n"),
            ("hang", 0, b""),
            ("late", 0, b""),
            ("reset", 3, b"VALRST"),
            ("truncate", 0, b"VALUE a 5"),
            ("duplicate", 0, b"VALUE a 5 4\r\naaaa\r\n" * 2 + b"END\r\n" * 2),
        ):
            with self.subTest(fault):
                self.assertEqual(self.reply(fault, argument), reply)

    def test_refuse_and_listen_again(self):
        self.proxy.refuse()
        with self.assertRaises(ConnectionRefusedError):
            Client(self.proxy.address)
        self.proxy.listen()
        self.assertTrue(self.reply("pass").startswith(b"VALUE a"))

    def test_restart_keeps_the_port_and_loses_the_values(self):
        port = self.server.port
        self.server.stop()
        self.server.start()
        self.assertEqual((self.server.port, self.server.keys()), (port, []))


if __name__ == "__main__":
    unittest.main()
