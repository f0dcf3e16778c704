"""Bodies that lie in a memory file and are sent by the kernel (sendfile(2)): every octet, from anywhere, at any speed."""

import os
import unittest

from harness import Client, SystemTest, many, request, response

BODY = b"".join(b"%08d" % number for number in range(100_000))         # 800,000 octets, each eight of them once
FRESH = {"Cache-Control": "max-age=60", "Content-Type": "text/plain", "ETag": '"large"'}


class LargeBodies(SystemTest):
    def setUp(self):
        super().setUp()
        self.large = self.path()
        self.origin.on(self.large, [response(200, FRESH, BODY)])
        with self.etagere.client() as client:
            self.assertEqual(client.ask("GET", self.large).body, BODY)

    def memory_files(self):
        folder = f"/proc/{self.etagere.process.pid}/fd"
        found = 0
        for name in os.listdir(folder):
            try:
                found += "memfd:etagere-body" in os.readlink(f"{folder}/{name}")
            except FileNotFoundError:
                pass
        return found

    def test_hits_have_every_octet(self):
        with self.etagere.client() as client:
            for _ in range(5):
                got = client.ask("GET", self.large)
                self.assertIn("hit", got["Cache-Status"])
                self.assertEqual(got["Content-Length"], str(len(BODY)))
                self.assertTrue(got.body == BODY)
            head = client.ask("HEAD", self.large)
            self.assertEqual((head.status, head["Content-Length"], head.body), (200, str(len(BODY)), b""))
            same = client.ask("GET", self.large, {"If-None-Match": '"large"'})
            self.assertEqual((same.status, same.body), (304, b""))
            self.assertTrue(client.ask("GET", self.large).body == BODY, "what follows HEAD and 304 is in step")

    def test_ranges_of_them(self):
        with self.etagere.client() as client:
            for first, last in ((0, 0), (0, 99_999), (4095, 4096), (4096, 8191), (123_457, 765_432), (799_999, 799_999)):
                got = client.ask("GET", self.large, {"Range": f"bytes={first}-{last}"})
                self.assertEqual(got.status, 206)
                self.assertTrue(got.body == BODY[first:last + 1], (first, last))

    def test_slow_clients(self):
        """Who takes little at a time is sent the rest when there is room, each from where it stands."""
        def read_slowly(_):
            with Client(self.etagere.address, receive_buffer=4096) as client:
                client.send(request("GET", self.large) + request("GET", self.large, {"Range": "bytes=100000-399999"}))
                whole, part = client.read(), client.read()
                self.assertTrue(whole.body == BODY)
                self.assertTrue(part.body == BODY[100_000:400_000])
        many(8, read_slowly)

    def test_a_client_that_leaves_halfway(self):
        for _ in range(20):
            client = Client(self.etagere.address, receive_buffer=4096)
            client.send(request("GET", self.large))
            client.read_head()
            client.reset()
        with self.etagere.client() as client:
            self.assertTrue(client.ask("GET", self.large).body == BODY)

    def test_what_is_purged_gives_its_file_back(self):
        held = self.memory_files()
        self.assertGreaterEqual(held, 1)
        with Client(self.etagere.address, receive_buffer=4096) as slow:
            slow.send(request("GET", self.large))
            slow.read_head()
            with self.etagere.client() as client:
                other = self.path()
                self.origin.on(other, [response(200, FRESH, BODY)])
                client.ask("GET", other)
                self.assertEqual(self.memory_files(), held + 1)
                self.assertIn(client.ask("DELETE", self.large).status, (200, 204))     # unsafe: what is stored goes
                client.ask("GET", other)
            self.assertTrue(slow.reader.exactly(len(BODY), "body") == BODY, "who is being sent it gets it whole")
        self.assertEqual(self.memory_files(), held)


if __name__ == "__main__":
    unittest.main()
