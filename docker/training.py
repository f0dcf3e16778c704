#!/usr/bin/env python3
"""Runs étagère under what it mostly does, so that a build with counters (docker/build-release) learns which way is taken.

usage: training.py BINARY

Everything on loopback, a few seconds. An answer that is not what it should be is an error: a profile of failures would
be of no use.
"""
import json
import os
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading

BODIES = {"1k": b"x" * 1024, "10k": b"y" * 10_240, "100k": b"z" * 102_400}
BROWSER = ("User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36\r\n"
           "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.9\r\n"
           "Accept-Encoding: gzip, deflate, br\r\nCookie: _session=%032d\r\nCache-Control: max-age=600\r\n")
SERVICE = "User-Agent: Ruby\r\nAccept: application/json\r\nX-Request-Id: %032d\r\n"

CONFIG = """
version: 1
listeners:
  ingress: {{ address: "127.0.0.1:0" }}
  admin: {{ address: "127.0.0.1:0", role: admin }}
upstreams:
  app: {{ endpoints: ["http://127.0.0.1:{origin}"] }}
stores:
  default: {{ memory: {{ size: 64MiB }} }}
routes:
  - {{ name: api, match: {{ path: "/**" }}, upstream: app }}
workers: 1
observability:
  access_log: {{ format: json, output: "{folder}/access.log" }}
"""


class Origin(socketserver.StreamRequestHandler):
    """/fresh/SIZE…, /stale/SIZE… (has to be asked about, and says 304), /private/SIZE… (is not stored)."""

    def handle(self):
        while line := self.rfile.readline():
            method, target, _ = line.decode().split(" ", 2)
            fields = {}
            while (line := self.rfile.readline().decode().rstrip()):
                name, _, value = line.partition(":")
                fields[name.lower()] = value.strip()
            self.rfile.read(int(fields.get("content-length", 0)))
            _, kind, size, *_ = target.split("/")
            body, etag = BODIES[size], f'"{size}"'
            lasting = {"fresh": "max-age=3600", "stale": "max-age=0", "private": "no-store"}[kind]
            status = "304 Not Modified" if fields.get("if-none-match") == etag else "200 OK"
            head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nCache-Control: {lasting}\r\nETag: {etag}\r\n" \
                   "Date: Mon, 30 Nov 2026 12:00:00 GMT\r\nX-Runtime: 0.01\r\n"
            if status.startswith("200"):
                head += f"Content-Length: {len(body)}\r\n"
            self.wfile.write(head.encode() + b"\r\n" + (body if status.startswith("200") and method != "HEAD" else b""))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128
    disable_nagle_algorithm = True


class Client:
    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), 20)
        self.file = self.sock.makefile("rb")

    def send(self, method, target, fields="", body=b""):
        self.sock.sendall(f"{method} {target} HTTP/1.1\r\nHost: api.example:8080\r\n{fields}\r\n".encode() + body)

    def read(self, method="GET"):
        status, length = int(self.file.readline().split()[1]), 0
        while (line := self.file.readline().rstrip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if method != "HEAD" and status != 304 and len(self.file.read(length)) != length:
            raise SystemExit("training: an answer was cut")
        return status


def rounds(port, count, wanted, asks):
    """`count` rounds on 16 connections; asks(number) gives (method, target, fields, body)."""
    clients = [Client(port) for _ in range(16)]
    number = 0
    for _ in range(count):
        sent = []
        for client in clients:
            what = asks(number)
            number += 1
            client.send(*what)
            sent.append(what[0])
        for client, method in zip(clients, sent):
            status = client.read(method)
            if status != wanted:
                raise SystemExit(f"training: {status} instead of {wanted} for {what}")


def train(port):
    def get(path, fields=SERVICE, method="GET", body=b""):
        return lambda n: (method, path(n), fields % n if "%" in fields else fields, body)
    for size, count in (("1k", 600), ("10k", 200), ("100k", 50)):
        rounds(port, count, 200, get(lambda n, s=size: f"/fresh/{s}"))
        rounds(port, count // 4, 200, get(lambda n, s=size: f"/fresh/{s}", BROWSER))
        rounds(port, count // 4, 304, get(lambda n, s=size: f"/fresh/{s}", f'If-None-Match: "{size}"\r\n'))
    rounds(port, 200, 200, get(lambda n: "/fresh/1k", ""))
    rounds(port, 400, 200, get(lambda n: f"/fresh/1k/{n % 1600}?page={n % 1600}"))
    rounds(port, 300, 200, get(lambda n: "/private/1k"))
    rounds(port, 100, 200, get(lambda n: "/private/10k", BROWSER))
    rounds(port, 100, 200, get(lambda n: f"/private/1k/{n}", "Content-Length: 300\r\n", "POST", b"p" * 300))
    rounds(port, 300, 200, get(lambda n: f"/stale/1k/{n % 800}"))
    rounds(port, 50, 200, get(lambda n: "/fresh/10k", SERVICE, "HEAD"))
    for n in range(500):
        client = Client(port)
        client.send("GET", "/fresh/1k", "Connection: close\r\n")
        client.read()
        client.sock.close()


def main():
    binary = sys.argv[1]
    origin = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "etagere.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(origin=origin.server_address[1], folder=folder))
        process = subprocess.Popen([binary, "run", "-c", config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ports = {}
        try:
            for line in process.stdout:
                said = json.loads(line)
                if said.get("event") == "listening":
                    ports[said["listener"]] = int(said["address"].rpartition(":")[2])
                if said.get("event") == "ready":
                    break
            train(ports["ingress"])
            scrape = Client(ports["admin"])
            scrape.send("GET", "/metrics")
            scrape.read()
        finally:
            process.terminate()
            process.stdout.read()
            process.wait(30)


if __name__ == "__main__":
    main()
