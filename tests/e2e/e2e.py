"""What the end-to-end tests share: one set of real programs for a test file, an étagère for each class, and a client
that counts what passes on the wire."""

import collections
import itertools
import os
import sys
import threading
import unittest

from apps import Go, Nginx, Rails

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "system"))

from harness import Client, Etagere, Memcached, Reader, many, wait_until  # noqa: E402

__all__ = ["Client", "Counted", "EndToEnd", "Etagere", "Go", "Memcached", "MEMCACHED", "MEMORY", "Nginx", "Rails", "TIERS",
           "hostname", "many", "wait_until"]

# One store each. memcached's deadline is long: these tests are about answers, and the machine may be busy.
MEMORY = "{ memory: { size: 64MiB, max_object: 4MiB } }"
MEMCACHED = '{ memory: { size: 0 }, memcached: { servers: "@MEMCACHED@", namespace: "@NAMESPACE@", timeout: 2s } }'
TIERS = '{ memory: { size: 64MiB }, memcached: { servers: "@MEMCACHED@", namespace: "@NAMESPACE@", timeout: 2s } }'


class CountingReader(Reader):
    received = 0

    def fill(self):
        before = len(self.buffer)
        more = super().fill()
        self.received += len(self.buffer) - before
        return more


class Counted(Client):
    """A kept connection; `received` counts every byte that came back, `stored` the answers that each étagère said it
    would keep."""

    stored, lock = collections.Counter(), threading.Lock()

    def __init__(self, address, timeout=30):
        super().__init__(address, timeout)
        self.address, self.reader = address, CountingReader(self.sock, timeout)

    def read(self, method="GET"):
        response = super().read(method)
        with self.lock:
            self.stored[self.address] += "stored" in response.cache
        return response

    @property
    def received(self):
        return self.reader.received

    def get(self, target, fields=()):
        return self.ask("GET", target, fields)


def hostname(name, fields=()):
    """Fields with a Host: how these tests choose a route where the path is the application's."""
    return {"Host": name, **dict(fields)}


class EndToEnd(unittest.TestCase):
    """CONFIG with one étagère for all tests of the class. `@STORE@` is `STORE`; values() adds more."""

    CONFIG, STORE = "", MEMORY
    numbers = itertools.count(1)

    @classmethod
    def setUpClass(cls):
        cls.memcached = None
        if "@MEMCACHED@" in cls.STORE:
            cls.memcached = Memcached("-m", "256")
            cls.addClassCleanup(cls.memcached.close)
        cls.etagere = cls.start()
        cls.addClassCleanup(cls.etagere.stop)

    @classmethod
    def start(cls, config=None, **values):
        """One more étagère with the configuration and the stores of this class."""
        text = (config or cls.CONFIG).replace("@STORE@", cls.STORE)
        if cls.memcached:
            values = {"MEMCACHED": "127.0.0.1:%d" % cls.memcached.port, "NAMESPACE": cls.__name__.lower(), **values}
        etagere = Etagere(text, values={**cls.values(), **values})
        Counted.stored.pop(etagere.address, None)   # the port may have been another's before
        return etagere

    @classmethod
    def values(cls):
        return {}

    @classmethod
    def page(cls):
        """A page that no other test of the run uses; there are 100."""
        return next(EndToEnd.numbers)

    def client(self, of=None):
        client = Counted((of or self.etagere).address)
        self.addCleanup(client.close)
        return client

    def kept(self, client, target, fields=(), of=None, method="GET"):
        """The answer to a request that makes étagère keep something, once it is kept: memcached is written behind the
        answer, and nobody waits for that but a test."""
        etagere = of or self.etagere
        answer = client.ask(method, target, fields)
        self.assertIn("stored", answer.cache, answer)
        # One write after the other: when as many are done as were announced, this one is.
        wait_until(lambda: etagere.metric("etagere_store_operations_total", op="put") >= Counted.stored[etagere.address],
                   f"étagère to keep {target}")
        return answer

    def assertSame(self, response, status, body=None, why=None):
        self.assertEqual(response.status, status, response)
        if body is not None and response.body != body:
            self.fail(f"the body differs from the origin's: {len(response.body)} bytes against {len(body)}, {response}")
        if why is not None:
            self.assertEqual(response.why, why, response)
