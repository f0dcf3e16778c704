#!/usr/bin/env python3
"""The example API of the demonstration: 100 products a page as JSON, with an ETag and a lifetime of two seconds.

Making a page takes 50 ms (a wait that stands for the database and the templates). Like a well-written API it knows a
page's ETag without making the page, so that it can answer 304 at once.

    GET /api/products?page=N     a page
    PUT /api/products/ID         {"price_cents": N} changes a product, and with it the ETag of its page
    GET /traffic                 what this API has sent, received and made so far; not counted itself

    api.py [PORT]                prints the port that it listens on
"""

import hashlib
import json
import re
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PER_PAGE = 100
LAST_PAGE = 100
MAX_AGE = 2
RENDERING = 0.050

lock = threading.Lock()
traffic = {"requests": 0, "bytes_in": 0, "bytes_out": 0, "renders": 0}
products = {
    id: {"id": id, "sku": f"SKU-{id:06}", "name": f"Product number {id}", "price_cents": 100 + id * 37 % 90_000,
         "version": 0,
         "description": f"A sturdy and well made thing, number {id} of the catalogue, sold by the piece; returned "
                        "within a month without a question asked, and repaired for two years."}
    for id in range(1, PER_PAGE * LAST_PAGE + 1)
}


class Counted:
    """A connection's stream that counts what passes."""

    def __init__(self, stream):
        self.stream, self.bytes = stream, 0

    def count(self, data):
        self.bytes += len(data)
        return data

    def readline(self, limit=-1):
        return self.count(self.stream.readline(limit))

    def read(self, count):
        return self.count(self.stream.read(count))

    def write(self, data):
        return self.stream.write(self.count(data))

    def __getattr__(self, name):
        return getattr(self.stream, name)


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self):
        super().setup()
        self.rfile, self.wfile = Counted(self.rfile), Counted(self.wfile)

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/traffic":
            with lock:
                report = dict(traffic)
            return self.answer(200, report, counted=False)
        page = parse_qs(url.query).get("page", ["1"])[0]
        if url.path != "/api/products" or not re.fullmatch("[1-9][0-9]{0,2}", page) or int(page) > LAST_PAGE:
            return self.answer(404, {"error": "not found"})
        with lock:
            rows = [dict(products[id]) for id in self.ids(int(page))]
        tag = '"' + hashlib.sha256(repr([(row["id"], row["version"]) for row in rows]).encode()).hexdigest()[:24] + '"'
        fields = {"ETag": tag, "Cache-Control": f"public, max-age={MAX_AGE}"}
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, None, fields)
        time.sleep(RENDERING)
        with lock:
            traffic["renders"] += 1
        return self.answer(200, {"page": int(page), "products": rows}, fields)

    do_HEAD = do_GET

    def do_PUT(self):
        match = re.fullmatch("/api/products/([1-9][0-9]{0,4})", self.path)
        try:
            change = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
            price = int(change["price_cents"])
        except (ValueError, KeyError, TypeError):
            return self.answer(400, {"error": "send {\"price_cents\": N}"})
        with lock:
            product = products.get(int(match[1])) if match else None
            if product:
                product["price_cents"], product["version"] = price, product["version"] + 1
        return self.answer(200 if product else 404, product or {"error": "not found"})

    @staticmethod
    def ids(page):
        return range((page - 1) * PER_PAGE + 1, page * PER_PAGE + 1)

    def answer(self, status, body, fields=(), counted=True):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in dict(fields).items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        data = b"" if self.command == "HEAD" or status == 304 else data
        # Counted before any of it may leave (more than the buffer holds goes out at once), so that whoever has the
        # answer finds it counted.
        if counted:
            with lock:
                traffic["requests"] += 1
                traffic["bytes_in"] += self.rfile.bytes
                traffic["bytes_out"] += self.wfile.bytes + len(data)
        self.wfile.write(data)
        self.rfile.bytes = self.wfile.bytes = 0
        self.wfile.flush()

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Api)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
