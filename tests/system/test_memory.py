"""What étagère occupies: at rest, for each kept connection, and within its budget while what it stores comes and goes."""

import re
import unittest

from harness import Client, SystemTest, response, sanitized, wait_until

KIB, MIB = 1024, 1024 * 1024
CONNECTIONS = 1000


def own_bytes(etagere):
    """Heap and stacks. Pages of the binary are left out: whose they are counts who else runs it at the moment."""
    with open(f"/proc/{etagere.process.pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Anonymous:\s+(\d+) kB", file.read(), re.M)[1]) * KIB


@unittest.skipIf(sanitized(), "memory says nothing in a sanitized build")
class Occupied(SystemTest):
    CONFIG = SystemTest.CONFIG + """
workers: 1
observability:
  access_log: { format: off }
"""

    def test_1_at_rest(self):
        self.assertLessEqual(self.etagere.resident_bytes(), 20 * MIB)

    def test_2_connections_that_idle(self):
        path = self.path()
        self.origin.on(path, response(200, {"Cache-Control": "max-age=60"}, b"x" * KIB))
        with self.etagere.client() as warm:
            for _ in range(100):
                warm.ask("GET", path)
        before = own_bytes(self.etagere)
        clients = []
        for _ in range(CONNECTIONS):
            clients.append(Client(self.etagere.address))
            self.addCleanup(clients[-1].close)
        wait_until(lambda: self.etagere.open_files() > CONNECTIONS, "all connections to be accepted")
        with self.subTest("that never sent anything"):
            self.assertLessEqual((own_bytes(self.etagere) - before) / CONNECTIONS, 4 * KIB)
        for client in clients:
            client.ask("GET", path)
        with self.subTest("that wait for the next request"):
            self.assertLessEqual((own_bytes(self.etagere) - before) / CONNECTIONS, 4 * KIB)


if __name__ == "__main__":
    unittest.main()
