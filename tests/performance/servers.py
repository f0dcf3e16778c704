"""The servers that are compared, each with settings that are fair to it: one worker thread or process, no log of its
own unless its name says so, a cache in memory that is large enough, kept connections to both sides. étagère has its
defaults: access log as JSON to a file, metrics, Cache-Status.

A server is started with a Site and returns its port; everything it starts through the Site counts as the server.
"""

import dataclasses
import http.client
import os
import socket
import time

import machine


class Site:
    """Where one server runs: its folder, its CPUs, the origin behind it, and what it started."""

    def __init__(self, *, directory, cpus, origin, tools, etagere):
        self.directory, self.cpus, self.origin = directory, cpus, origin
        self.tools, self.etagere = tools, etagere
        self.processes, self.folders, self.access_log = [], [], None
        os.makedirs(directory)

    def file(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def memory_folder(self):
        """A folder in memory, removed at the end."""
        base = "/dev/shm" if os.path.isdir("/dev/shm") else self.directory
        self.folders.append(os.path.join(base, f"etagere-bench-{os.getpid()}-{machine.free_port()}"))
        os.makedirs(self.folders[-1])
        return self.folders[-1]

    def run(self, *argv, env=None):
        log = os.path.join(self.directory, "output.log")
        self.processes.append(machine.Process([str(a) for a in argv], self.cpus, log, env=env))

    def run_tool(self, name, *arguments):
        log = os.path.join(self.directory, "output.log")
        process, port = machine.tool(os.path.join(self.tools, name), *arguments, cpus=self.cpus, log=log)
        self.processes.append(process)
        return port

    def pids(self):
        return [pid for process in self.processes for pid in process.pids()]

    def stop(self):
        for process in reversed(self.processes):
            process.stop()
        for folder in self.folders:
            machine.remove(folder)


def get(port, target, timeout=10):
    """(status, head, body) of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def wait_until_ready(site, port, target, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for process in site.processes:
            if process.has_ended():
                raise machine.Failure(f"{process.argv[0]} ended at once:\n{process.tail()}")
        try:
            if get(port, target)[0] == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)
    raise machine.Failure(f"{site.processes[-1].argv[0]} does not answer:\n{site.processes[-1].tail()}")


# The limit: bench_origin itself, and a relay that reads nothing.

def limit(site):
    return site.run_tool("bench_origin")


def limit_sendfile(site):
    return site.run_tool("bench_origin", "--sendfile")


def relay(site):
    return site.run_tool("bench_relay", site.origin)


# étagère

def memcached(site):
    port = machine.free_port()
    as_root = ["-u", "root"] if os.getuid() == 0 else []
    site.run("memcached", *as_root, "-l", "127.0.0.1", "-p", port, "-t", 1, "-m", 512, "-c", 4096)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return port
        except OSError:
            time.sleep(0.02)
    raise machine.Failure("memcached does not start")


def etagere(*, log="json", workers=1, memory="512MiB", with_memcached=False, routes=1, collapse=True,
            metrics=True):
    """A function that starts étagère so."""
    def start(site):
        port, admin = machine.free_port(), machine.free_port()
        stores = f"memory: {{ size: {memory} }}"
        if with_memcached:
            stores += f', memcached: {{ servers: "127.0.0.1:{memcached(site)}" }}'
        site.access_log = os.path.join(site.directory, "access.log")
        # Those in front match nothing that is asked: the last one has to be found behind them.
        texts = [f'  - {{ name: r{n}, match: {{ path: "/api/v{n % 7}/things-{n}/**" }}, upstream: default }}'
                 for n in range(routes - 1)]
        cache = "" if collapse else ", cache: { collapse: off }"
        texts.append(f'  - {{ name: all, match: {{ path: "/**" }}, upstream: default{cache} }}')
        text = "\n".join([
            "version: 1",
            "listeners:",
            f'  ingress: {{ address: "127.0.0.1:{port}", role: ingress }}',
            f'  admin: {{ address: "127.0.0.1:{admin}", role: admin }}',
            f"stores: {{ default: {{ {stores} }} }}",
            "upstreams:",
            f'  default: {{ endpoints: ["http://127.0.0.1:{site.origin}"], pool: {{ max_connections: 256 }} }}',
            "routes:", *texts,
            f"workers: {workers}",
            "observability:",
            f"  access_log: {{ format: {log}, output: {site.access_log} }}",
            f"  metrics: {'on' if metrics else 'off'}", ""])
        site.admin = admin
        site.run(site.etagere, "run", "-c", site.file("etagere.yaml", text))
        return port
    return start


# Peers

def haproxy(site):
    port = machine.free_port()
    site.run("haproxy", "-db", "-f", site.file("haproxy.cfg", f"""
global
    nbthread 1
    maxconn 8000
defaults
    mode http
    timeout connect 5s
    timeout client 10m
    timeout server 10m
    timeout http-keep-alive 10m
    http-reuse always
cache memory
    total-max-size 512
    max-object-size 1048576
    max-age 604800
frontend clients
    bind 127.0.0.1:{port} backlog 4096
    default_backend origin
backend origin
    http-request cache-use memory
    http-response cache-store memory
    server origin 127.0.0.1:{site.origin} pool-max-conn 256
"""))
    return port


def nginx_configuration(site, port, http_lines, location):
    """What every nginx here has. Its files are in a folder of its own; as root it stays root, to reach them."""
    user = "user root;" if os.getuid() == 0 else ""
    temporary = "\n".join(f"    {kind}_temp_path {site.directory}/{kind};"
                          for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return site.file("nginx.conf", f"""
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid {site.directory}/nginx.pid;
error_log {site.directory}/error.log crit;
events {{ worker_connections 8192; multi_accept on; }}
http {{
    access_log off;
    default_type application/json;
    tcp_nodelay on;
    keepalive_timeout 10m;
    keepalive_requests 1000000000;
{temporary}
    {http_lines}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{ {location} }}
    }}
}}
""")


def nginx(io):
    """proxy_cache with its files in memory. `io`: how bodies go out; sendfile wins for large, copying for small."""
    def start(site):
        port, cache = machine.free_port(), site.memory_folder()
        lines = f"""{io}
    proxy_cache_path {cache} levels=1:2 keys_zone=memory:64m max_size=1g inactive=1d use_temp_path=off;
    open_file_cache max=20000 inactive=1d;
    open_file_cache_valid 1d;
    upstream origin {{
        server 127.0.0.1:{site.origin};
        keepalive 128;
        keepalive_requests 1000000000;
    }}"""
        location = """
            proxy_pass http://origin;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_cache memory;
            proxy_cache_key $request_uri;
            proxy_cache_revalidate on;
        """
        site.run("nginx", "-p", site.directory, "-c", nginx_configuration(site, port, lines, location))
        return port
    return start


def nginx_memcached(site):
    """The memcached module hands out bodies under their path; who fills memcached is the application: here, we are."""
    store, port = memcached(site), machine.free_port()
    body = get(site.origin, "/c/10240")[2]
    with socket.create_connection(("127.0.0.1", store), timeout=5) as connection:
        connection.sendall(b"set /c/10240 0 0 %d\r\n%s\r\n" % (len(body), body))
        if not connection.recv(64).startswith(b"STORED"):
            raise machine.Failure("memcached does not store")
    lines = f"""memcached_buffer_size 16k;
    upstream store {{ server 127.0.0.1:{store}; keepalive 128; keepalive_requests 1000000000; }}"""
    location = "set $memcached_key $uri; memcached_pass store;"
    site.run("nginx", "-p", site.directory, "-c", nginx_configuration(site, port, lines, location))
    return port


# What is written to Varnish's log in shared memory for every request, unless it is masked.
VARNISH_RECORDS = ("Begin End ReqStart ReqMethod ReqURL ReqProtocol ReqHeader ReqUnset ReqAcct RespProtocol RespStatus "
                   "RespReason RespHeader RespUnset VCL_call VCL_return VCL_use Hit Link SessOpen SessClose Timestamp "
                   "Filters Debug")


def varnish(*, log):
    def start(site):
        port = machine.free_port()
        vcl = site.file("default.vcl", f"""vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{site.origin}"; }}
sub vcl_recv {{ if (req.url ~ "^/n/") {{ return (pass); }} }}
""")
        settings = {"thread_pools": 1, "thread_pool_min": 100, "thread_pool_max": 1500, "timeout_idle": 600,
                    "listen_depth": 4096}
        if not log:
            settings["vsl_mask"] = ",".join(f"-{record}" for record in VARNISH_RECORDS.split())
        parameters = [word for name, value in settings.items() for word in ("-p", f"{name}={value}")]
        site.run("varnishd", "-F", "-j", "none", "-n", os.path.join(site.directory, "n"), "-a", f"127.0.0.1:{port}",
                 "-T", "none", "-f", vcl, "-s", "malloc,1G", *parameters)
        return port
    return start


def rack_cache(site):
    """What étagère replaces: Rack::Cache with its entries in memcached, inside Puma with five threads."""
    store, port = memcached(site), machine.free_port()
    site.file("config.ru", f"""
require 'dalli'
require 'net/http'
require 'rack/cache'

memcached = 'memcached://127.0.0.1:{store}'
use Rack::Cache, verbose: false, metastore: memcached + '/meta', entitystore: memcached + '/entity'

# Stands for the application: its answers are those of the origin.
run(lambda do |env|
  answer = Net::HTTP.get_response(URI('http://127.0.0.1:{site.origin}' + env['PATH_INFO']))
  fields = %w[Content-Type Cache-Control ETag Last-Modified].to_h {{ |name| [name, answer[name]] }}
  [answer.code.to_i, fields.compact, [answer.body]]
end)
""")
    site.run("puma", "-q", "-e", "production", "-t", "5:5", "-w", 0, "--dir", site.directory, "-b",
             f"tcp://127.0.0.1:{port}", "config.ru", env={"RACK_ENV": "production"})
    return port


HITS = ("hit-1k", "hit-10k", "hit-100k", "not-modified")
MEMORY = (*HITS, "keys-uniform", "keys-zipf", "close")
PROXY = (*MEMORY, "pass")


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    title: str
    start: object
    workloads: tuple            # in the tables of all servers
    both_cpus: bool = False     # runs, with its client, on both
    slow: bool = False          # one round is enough: hundreds of µs a request


ALL = {kind.name: kind for kind in (
    Kind("limit", "limit (epoll)", limit, MEMORY),
    Kind("limit-sendfile", "limit (sendfile)", limit_sendfile, ("hit-100k",)),
    Kind("relay", "limit (relay)", relay, ("pass",)),
    Kind("etagere", "étagère", etagere(), (*PROXY, "revalidate")),
    Kind("etagere-nolog", "étagère, no log", etagere(log="off"), (*PROXY, "revalidate")),
    Kind("haproxy", "HAProxy", haproxy, PROXY),
    Kind("nginx", "nginx, sendfile", nginx("sendfile on; tcp_nopush off;"), PROXY),
    Kind("nginx-copy", "nginx, copying", nginx("sendfile off; output_buffers 2 128k;"), PROXY),
    Kind("varnish", "Varnish", varnish(log=True), PROXY),
    Kind("varnish-nolog", "Varnish, no log", varnish(log=False), PROXY),
    Kind("rack-cache", "Rack::Cache + Dalli", rack_cache, (*HITS, "close", "memcached-10k"), slow=True),
    Kind("etagere-memcached", "étagère on memcached", etagere(memory="0", with_memcached=True),
         ("memcached-10k", "memcached-304")),
    Kind("nginx-memcached", "nginx memcached module", nginx_memcached, ("memcached-10k",)),
    # Only compared with étagère itself: series.py says on what.
    Kind("etagere-large", "étagère, 2 GiB", etagere(memory="2GiB"), ()),
    Kind("etagere-routes", "étagère, 1,000 routes", etagere(routes=1000), ()),
    Kind("etagere-one", "étagère, one worker, both CPUs", etagere(), (), both_cpus=True),
    Kind("etagere-two", "étagère, two workers, both CPUs", etagere(workers=2), (), both_cpus=True),
    Kind("etagere-nometrics", "étagère, metrics off", etagere(metrics=False), ()),
    Kind("etagere-alone", "étagère, collapsing off", etagere(collapse=False), ()),
)}
