"""Runs étagère for black-box tests.

A test file makes a `SystemTest` subclass: a configuration text, one scripted `Origin`, one running `Etagere` for the
whole class, and a path of its own for each case. `@NAME@` in a configuration is replaced, so that YAML keeps its `$`
and braces. ETAGERE_BIN names the binary (ctest sets it).

Ports: listeners bind port 0 and étagère logs what it got as one JSON line
`{"event": "listening", "listener": NAME, "address": "127.0.0.1:PORT"}` each.
"""

import itertools
import json
import mmap
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from memcached import FaultProxy, Memcached
from origin import Exchange, Origin, steps, validating, wait_until
from wire import TIMEOUT, Client, Fields, Reader, Response, WireError, chunked, lines, request, response

__all__ = ["Client", "Etagere", "Exchange", "FaultProxy", "Fields", "Memcached", "Origin", "Reader", "Response",
           "SystemTest", "TIMEOUT", "WireError", "binary", "chunked", "lines", "many", "past", "request", "response",
           "run_cli", "sanitized", "steps", "validating", "wait_until"]


def binary():
    path = os.environ.get("ETAGERE_BIN")
    if not path or not os.path.exists(path):
        raise RuntimeError("ETAGERE_BIN must name the étagère binary")
    return path


def sanitized():
    """True for a build with a sanitizer: memory and processor time say nothing then, the rest does all the more."""
    with open(binary(), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"__asan_init") >= 0 or content.find(b"__tsan_init") >= 0


def run_cli(*arguments, stdin=None, env=None, timeout=60):
    """Runs a subcommand to its end: (exit code, stdout, stderr)."""
    done = subprocess.run([binary(), *arguments], input=stdin, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(env or {})}, check=False)
    return done.returncode, done.stdout, done.stderr


def past(seconds):
    """An HTTP-date `seconds` ago (negative: in the future)."""
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() - seconds))


def many(count, function):
    """Calls function(0) … function(count - 1) at the same time; returns the results in order, or raises the first error."""
    results, errors, start = [None] * count, [], threading.Barrier(count)

    def run(index):
        try:
            start.wait(TIMEOUT)
            results[index] = function(index)
        except BaseException as error:            # carried to the calling thread, below
            errors.append(error)
    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    return results


class Etagere:
    """One running process. `listeners` maps listener names to addresses; `log` holds its JSON lines in order."""

    def __init__(self, config, *, values=None, env=None, arguments=(), preexec=None):
        self.values = {name: str(value) for name, value in (values or {}).items()}
        self.directory = tempfile.TemporaryDirectory()
        self.config = os.path.join(self.directory.name, "etagere.yaml")
        self.log, self.other_lines, self.listeners = [], [], {}
        self.changed = threading.Condition()
        self.write_config(config)
        self.process = subprocess.Popen([binary(), "run", "-c", self.config, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}, preexec_fn=preexec)
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        try:
            self.wait_ready()
        except BaseException:
            self.kill()
            raise

    def write_config(self, text):
        """Puts a (new) configuration in place, as one step."""
        for name, value in self.values.items():
            text = text.replace(f"@{name}@", value)
        with open(self.config + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(self.config + ".new", self.config)

    def read_log(self):
        for raw in self.process.stdout:
            try:
                record = json.loads(raw)
            except ValueError:
                record = None
            with self.changed:
                if isinstance(record, dict):
                    self.log.append(record)
                    if record.get("event") == "listening":
                        host, _, port = record["address"].rpartition(":")
                        self.listeners[record["listener"]] = (host, int(port)) if port.isdigit() else record["address"]
                else:
                    self.other_lines.append(raw.decode("utf-8", "replace").rstrip())
                self.changed.notify_all()

    def wait_ready(self):
        def ready():
            if self.process.poll() is not None:
                self.reader.join(5)
                raise AssertionError(f"étagère ended at once with {self.process.returncode}:\n{self.tail()}")
            if "admin" not in self.listeners or len(self.listeners) < 2:
                return False
            try:
                with Client(self.listeners["admin"]) as client:
                    return client.ask("GET", "/readyz").status == 200
            except OSError:
                return False
        wait_until(ready, "étagère to be ready", 30)

    def tail(self, count=30):
        return "\n".join(self.other_lines[-count:] + [json.dumps(r) for r in self.log[-count:]])

    @property
    def address(self):
        """The first listener that is not the admin one."""
        return next(address for name, address in self.listeners.items() if name != "admin")

    @property
    def admin(self):
        return self.listeners["admin"]

    def client(self, **more):
        return Client(self.address, **more)

    def wait_log(self, timeout=TIMEOUT, **wanted):
        """Waits for a JSON line whose members equal `wanted`, and returns the first."""
        def find():
            return next((r for r in self.log if all(r.get(k) == v for k, v in wanted.items())), None)
        with self.changed:
            if not self.changed.wait_for(find, timeout):
                raise AssertionError(f"waited {timeout} s for a log line with {wanted}\n{self.tail()}")
            return find()

    def access(self, path, count=1, timeout=TIMEOUT):
        """Access lines for `path`, once there are at least `count`."""
        def find():
            found = [r for r in self.log if r.get("msg") == "request" and r.get("path") == path]
            return found if len(found) >= count else None
        with self.changed:
            if not self.changed.wait_for(find, timeout):
                raise AssertionError(f"waited {timeout} s for {count} access lines of {path}\n{self.tail()}")
            return find()

    def metrics(self):
        """Prometheus samples as {'name{labels}': number}."""
        with Client(self.admin) as client:
            text = client.ask("GET", "/metrics").body.decode()
        return {match[1]: float(match[2]) for match in re.finditer(r"^([a-z]\S*(?:\{.*\})?) (\S+)$", text, re.M)}

    def metric(self, name, **labels):
        """Sum of the samples of `name` whose labels include `labels`."""
        return sum(value for sample, value in self.metrics().items()
                   if sample.partition("{")[0] == name and all(f'{k}="{v}"' in sample for k, v in labels.items()))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024

    def grown_since(self, before):
        """Resident bytes more than `before`; 0 in a sanitized build."""
        return 0 if sanitized() else self.resident_bytes() - before

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def signal(self, number):
        self.process.send_signal(number)

    def reload(self, config=None):
        """Writes `config`, sends SIGHUP and waits until the reload was counted. Returns True when it was taken."""
        before = {r: self.reloads(r) for r in ("ok", "error")}
        if config is not None:
            self.write_config(config)
        self.signal(signal.SIGHUP)
        wait_until(lambda: any(self.reloads(r) > n for r, n in before.items()), "the reload to be counted")
        return self.reloads("ok") > before["ok"]

    def reloads(self, result):
        return self.metric("etagere_config_reloads_total", result=result)

    def wait_exit(self, timeout=30):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"étagère still runs {timeout} s after it was told to stop\n{self.tail()}") from None
        self.let_go()
        return code

    def stop(self, expect=0):
        """SIGTERM, and the exit code that belongs to it."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        code = self.wait_exit()
        if code != expect:
            raise AssertionError(f"étagère ended with {code}, not {expect}\n{self.tail()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self.let_go()

    def let_go(self):
        self.reader.join(5)
        self.process.stdout.close()
        self.directory.cleanup()


class SystemTest(unittest.TestCase):
    """One origin and one étagère for all tests of the class."""

    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 64MiB, max_object: 4MiB } }
routes:
  - { name: all, match: { path: "/**" }, upstream: app, cache: { store: default } }
"""
    VALUES = {}
    CHECK_ORIGIN = True                           # every request the origin saw was unambiguous

    @classmethod
    def setUpClass(cls):
        cls.origin = Origin()
        cls.paths = (f"/case-{number}" for number in itertools.count(1))
        cls.etagere = None
        cls.addClassCleanup(cls.origin.stop)
        cls.prepare()
        cls.etagere = Etagere(cls.CONFIG, values={"ORIGIN": cls.origin.url, **cls.VALUES})
        cls.addClassCleanup(cls.finish)

    @classmethod
    def prepare(cls):
        """For more servers that the configuration names."""

    @classmethod
    def finish(cls):
        cls.etagere.stop()
        if cls.CHECK_ORIGIN and cls.origin.violations:
            raise AssertionError(f"the origin was sent what it could not read safely: {cls.origin.violations}")

    def path(self):
        """A path that no other case uses."""
        return next(self.paths)

    def client(self, **more):
        client = self.etagere.client(**more)
        self.addCleanup(client.close)
        return client

    def ask(self, method, target, fields=(), body=None, **more):
        """One request on a connection of its own."""
        with self.etagere.client() as client:
            return client.ask(method, target, fields, body, **more)

    def get(self, target, fields=(), **more):
        return self.ask("GET", target, fields, **more)

    def refused(self, raw, statuses=(400,), bytewise=False):
        """`raw` (bytes with @P@ for a path) must be answered with one of `statuses` and a closed connection. A good
        request sent right behind it must not be executed, and the origin must not see a complete request."""
        path, behind = self.path(), self.path()
        client = self.client()
        client.send(raw.replace(b"@P@", path.encode()) + request("GET", behind), bytewise)
        got = client.read()
        self.assertIn(got.status, statuses)
        self.assertEqual(got["Connection"], "close")
        self.assertTrue(client.closed(), "the connection stays open after a protocol error")
        self.assertEqual([r for r in self.origin.seen(path) if r.complete], [])
        self.assertEqual(self.origin.seen(behind), [])
        return got

    def hidden(self, count=1):
        """A request in bytes for smuggling, and a check that it was not executed."""
        path = self.path()
        self.addCleanup(lambda: self.assertEqual(self.origin.seen(path), [], "a hidden request was executed"))
        return request("GET", path) * count
