"""Starts the real programs of the end-to-end tests: Rails under Puma and the Go API (tests/apps). memcached comes from
the harness of tests/system. Every one listens on a free loopback port and is ended by its own process id.

A missing program is an error, never a reason to skip: `docker/packages.sh install apps` installs them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))

# After the path is set: the harness lives beside the system tests.
from harness import Client, wait_until  # noqa: E402

APPS = os.path.join(os.path.dirname(HERE), "apps")


def program(name):
    path = shutil.which(name)
    if not path:
        raise RuntimeError(f"{name} is not installed: docker/packages.sh install apps")
    return path


class App:
    """A started program whose output says where it listens."""

    NAME, SAYS = "", r"http://127\.0\.0\.1:(\d+)"

    def __init__(self, command, env, directory):
        self.scratch = tempfile.TemporaryDirectory()
        self.lines, self.port, self.changed = [], None, threading.Condition()
        self.process = subprocess.Popen(command, cwd=directory, env={**os.environ, **env(self.scratch.name)},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        with self.changed:
            self.changed.wait_for(lambda: self.port or self.process.poll() is not None, 60)
        if not self.port:
            self.stop()
            raise AssertionError(f"{self.NAME} does not start:\n" + "\n".join(self.lines[-40:]))
        try:
            wait_until(lambda: self.ask("GET", "/up").status == 200, f"{self.NAME} to be up", 30)
        except BaseException:
            self.stop()
            raise

    def read(self):
        for raw in self.process.stdout:
            line = raw.decode("utf-8", "replace").rstrip()
            with self.changed:
                self.lines.append(line)
                found = re.search(self.SAYS, line)
                if found and not self.port:
                    self.port = int(found[1])
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, target, fields=(), body=None):
        """One request to the program itself, past étagère."""
        with Client(self.address, timeout=30) as client:
            return client.ask(method, target, fields, body)

    def counters(self):
        return json.loads(self.ask("GET", "/renders").body)

    @property
    def renders(self):
        return self.counters()["renders"]

    @property
    def pids(self):
        return [self.process.pid]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        self.reader.join(10)
        self.process.stdout.close()
        self.scratch.cleanup()


class Rails(App):
    """tests/apps/rails. `rack_cache`: "host:port" of a memcached, for Rack::Cache with Dalli in the stack. `deflater`:
    where Rack::Deflater stands, "outside" of everything or "inside" of Rack::ETag."""

    NAME, SAYS = "Rails", r"Listening on http://127\.0\.0\.1:(\d+)"
    DIRECTORY = os.path.join(APPS, "rails")

    def __init__(self, threads=5, rack_cache=None, deflater=None):
        def env(scratch):
            more = {"RACK_CACHE": rack_cache} if rack_cache else {}
            more |= {"DEFLATER": deflater} if deflater else {}
            return {"RAILS_ENV": "production", "DATABASE": os.path.join(scratch, "shop.sqlite"), **more}
        super().__init__([program("puma"), "-b", "tcp://127.0.0.1:0", "-t", f"{threads}:{threads}", "-w", "0",
                          "-e", "production", "config.ru"], env, self.DIRECTORY)

    def change(self, page, **values):
        """Changes the first product of a page, past étagère, as another writer of the same database would."""
        body = json.dumps(values).encode()
        answer = self.ask("PUT", f"/api/products/{(page - 1) * 100 + 1}", {"Content-Type": "application/json"}, body)
        assert answer.status == 200, answer


class RackCache(App):
    """tests/apps/rack_cache: Rack::Cache with `options` (Ruby: `use Rack::Cache, …`) in front of `origin`."""

    NAME, SAYS = "Rack::Cache", Rails.SAYS
    DIRECTORY = os.path.join(APPS, "rack_cache")

    def __init__(self, options, origin):
        def env(scratch):
            config = os.path.join(scratch, "rack_cache.rb")
            with open(config, "w", encoding="utf-8") as file:
                file.write(options)
            return {"RACK_CACHE_CONFIG": config, "ORIGIN": origin}
        super().__init__([program("puma"), "-b", "tcp://127.0.0.1:0", "-t", "2:2", "-w", "0", "-e", "production",
                          "config.ru"], env, self.DIRECTORY)

    def words(self, path, count):
        """The first `count` lines that Rack::Cache has written about `path`, as soon as they are there."""
        def found():
            return [line for line in self.lines if line.startswith("cache: [") and (f" {path}]" in line or f" {path}?" in line)]
        with self.changed:
            self.changed.wait_for(lambda: len(found()) >= count, 10)
            return found()


class Nginx:
    """nginx between étagère and an application, compressing what passes: its gzip turns "x" into W/"x"."""

    CONFIG = """
daemon off; master_process off; pid @DIR@/pid; error_log stderr warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path @DIR@/body; proxy_temp_path @DIR@/proxy; fastcgi_temp_path @DIR@/fastcgi;
  uwsgi_temp_path @DIR@/uwsgi; scgi_temp_path @DIR@/scgi;
  gzip on; gzip_proxied any; gzip_types application/json; gzip_min_length 100; gzip_http_version 1.0;
  server {
    listen unix:@DIR@/socket;
    location / { proxy_pass @APP@; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; }
  }
}
"""

    def __init__(self, app):
        self.scratch = tempfile.TemporaryDirectory()
        directory = self.scratch.name
        path = os.path.join(directory, "nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.CONFIG.replace("@DIR@", directory).replace("@APP@", app))
        self.socket = os.path.join(directory, "socket")
        self.process = subprocess.Popen([program("nginx"), "-c", path, "-p", directory, "-e", "stderr"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(self.socket) or self.process.poll() is not None, "nginx to listen", 30)
        if self.process.poll() is not None:
            raise AssertionError(f"nginx ended at once with {self.process.returncode}")

    @property
    def url(self):
        return f"unix:{self.socket}"

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.scratch.cleanup()


class Go(App):
    """tests/apps/go. `products`: what its /shop asks."""

    NAME, SAYS = "the Go API", r"listening on http://127\.0\.0\.1:(\d+)"
    DIRECTORY = os.path.join(APPS, "go")
    built = None                                    # the directory with the program, made once a run

    def __init__(self, products=""):
        super().__init__([self.build()], lambda _: {"LISTEN": "127.0.0.1:0", "PRODUCTS_URL": products}, self.DIRECTORY)

    @classmethod
    def build(cls):
        if not cls.built:
            cls.built = tempfile.TemporaryDirectory()
        binary = os.path.join(cls.built.name, "catalogue")
        if not os.path.exists(binary):
            # No network: the module has no dependencies, and the tool chain is the installed one.
            env = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local",
                   "CGO_ENABLED": "0"}
            done = subprocess.run([program("go"), "build", "-o", binary, "."], cwd=cls.DIRECTORY, env=env,
                                  capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                raise AssertionError(f"go build: {done.stderr}")
        return binary
