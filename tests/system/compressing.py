"""What the tests of compression share: bodies, decoders, and a configuration that compresses."""

import random
import subprocess
import zlib

from harness import SystemTest, response

JSON = {"Content-Type": "application/json"}
FRESH = {**JSON, "Cache-Control": "max-age=60"}
ALL = ("gzip", "br", "zstd")


def article(size, seed=1):
    """Text that gets smaller, of exactly that many bytes."""
    source = random.Random(seed)
    words = [b"alpha", b"bravo", b"charlie", b"delta", b"echo", b"foxtrot"]
    text = bytearray()
    while len(text) < size:
        text += b'{"id":%d,"name":"%s"},' % (source.randrange(10**6), source.choice(words))
    return bytes(text[:size])


def decode(coding, body):
    """The bytes behind a coded body, which has to be whole and without anything behind it."""
    if coding is None:
        return body
    if coding == "gzip":
        decoder = zlib.decompressobj(31)
        text = decoder.decompress(body)
        assert decoder.eof and not decoder.unused_data, "gzip: cut, or followed by something"
        return text
    command = {"br": ["brotli", "-d", "-c"], "zstd": ["zstd", "-d", "-c", "-q"]}[coding]
    return subprocess.run(command, input=body, capture_output=True, check=True, timeout=60).stdout


def listed(value):
    return [member.strip().lower() for member in (value or "").split(",") if member.strip()]


class CompressTest(SystemTest):
    CONFIG = """
version: 1
listeners:
  ingress: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0", role: admin }
upstreams:
  app: { endpoints: ["@ORIGIN@"] }
stores:
  default: { memory: { size: 64MiB, max_object: 4MiB } }
defaults:
  compress: { algorithms: [zstd, br, gzip], above: 1KiB }
routes:
  - { name: pass, match: { host: pass.test, path: "/**" }, upstream: app, cache: off }
  - { name: plain, match: { host: plain.test, path: "/**" }, upstream: app, compress: { algorithms: [] } }
  - { name: strong, match: { host: strong.test, path: "/**" }, upstream: app, etag: { when_missing: strong } }
  - { name: swr, match: { host: swr.test, path: "/**" }, upstream: app, cache: { stale: { while_revalidate: 60s } } }
  - { name: private, match: { host: private.test, path: "/**" }, upstream: app, cache: { private: revalidate } }
  - { name: all, match: { path: "/**" }, upstream: app }
"""

    def serving(self, body, fields=None, status=200):
        path = self.path()
        self.origin.on(path, response(status, FRESH if fields is None else fields, body))
        return path

    def coded(self, target, coding, fields=(), **more):
        return self.get(target, [("Accept-Encoding", coding), *(fields.items() if isinstance(fields, dict) else fields)],
                        **more)

    def assert_coded(self, got, coding, body):
        """Whole, labelled, and worth it."""
        self.assertEqual(got["Content-Encoding"], coding)
        self.assertEqual(decode(coding, got.body), body)
        self.assertEqual(listed(got["Vary"]).count("accept-encoding"), 1, got.fields)
        if coding is not None:
            self.assertLess(len(got.body), len(body))
            self.assertIsNone(got["Accept-Ranges"])
            self.assertFalse((got["ETag"] or "W/").startswith('"'), "a strong tag on bytes that are not the tag's")
