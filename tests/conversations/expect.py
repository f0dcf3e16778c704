"""What a block of expectations says about a message."""

import difflib
import gzip
import re
import zlib

from values import text_of
from wire import TIMEOUT, WireError, framing


class Mismatch(Exception):
    """What was expected and what came."""


class Body:
    """A body that is read piece by piece."""

    def __init__(self, kind, length):
        self.kind, self.left, self.buffer, self.ended = kind, length, b"", False

    def more(self, client):
        reader = client.reader
        if self.kind == "chunked":
            line = reader.until(b"\r\n", "chunk size", 4096)[:-2]
            size = int(line, 16)
            if size == 0:
                while reader.until(b"\r\n", "trailer") != b"\r\n":
                    pass
                self.ended = True
                return
            self.buffer += reader.exactly(size, "chunk")
            if reader.exactly(2, "chunk end") != b"\r\n":
                raise WireError("no CRLF after chunk data")
        elif self.kind == "length":
            if self.left == 0:
                self.ended = True
                return
            if not reader.buffer and not reader.fill():
                raise WireError(f"connection ended inside body: {self.left} bytes are missing")
            data = reader.take(min(self.left, len(reader.buffer)))
            self.left -= len(data)
            self.buffer += data
        elif not reader.buffer and not reader.fill():
            self.ended = True
            if reader.was_reset:
                raise WireError("connection ended with a reset")
        else:
            self.buffer += reader.take(len(reader.buffer))

    def take(self, client, count):
        while len(self.buffer) < count and not self.ended:
            self.more(client)
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data


class Expectation:
    def __init__(self, player, sentence):
        self.player, self.sentence = player, sentence

    def mismatch(self, line, what, wanted, got):
        if line is not None:
            self.player.line = line.number
        raise Mismatch(f"{what}\n  expected: {wanted}\n  got:      {got}")

    def equal(self, what, wanted, got, line=None):
        if wanted != got:
            self.mismatch(line, what, short(wanted), short(got, wanted))

    def status(self, wanted, got):
        if str(got.status) not in wanted.split("|"):
            self.mismatch(None, "status", wanted, f"{got.status} {got.reason}")

    def body_to_come(self, response):
        if response.status == 101:
            return Body("none", 0)                # a tunnel, until somebody closes
        if response.status < 200 or response.status in (204, 304):
            return Body("length", 0)
        kind, length = framing(response.fields, f"response {response.status}")
        return Body(kind, length)

    def of_end(self, body, client, cut):
        try:
            while not body.ended:
                body.more(client)
        except WireError as error:
            if cut and "connection ended" in str(error):
                return
            raise
        if cut:
            self.mismatch(None, "the answer", "is cut in the middle", f"a complete one, to the end: {short(body.buffer)}")
        self.equal("rest of the body", b"", body.buffer)

    def of_cut(self, client):
        """Nothing at all, or a head that ends in the middle."""
        try:
            head = client.read_head()
        except WireError as error:
            if "connection ended" in str(error):
                return
            raise
        self.mismatch(None, "the answer", "nothing but a connection that ends", f"{head.status} {head.reason}")

    def of_response(self, response, client, whole=False):
        for line in self.sentence.block:
            if line.word == "cache":
                self.cache(line, response)
            elif line.word == "decoded body":
                self.text(line, "decoded body", decoded(response))
            elif line.word == "connection closes":
                if not closes(client, 2):
                    self.mismatch(line, "connection", "closes", "stays open")
            elif line.word == "connection stays":
                if client.reader.eof or closes(client, 0.02):
                    self.mismatch(line, "connection", "stays open", "closes")
            else:
                self.part(line, response, whole)

    def of_request(self, request, last_connection):
        for line in self.sentence.block:
            if line.word.startswith("on a"):
                if request.connection == last_connection:
                    self.mismatch(line, "connection to the origin", "a new one", "the same")
            elif line.word.startswith("on the"):
                if request.connection != last_connection:
                    self.mismatch(line, "connection to the origin", "the same", "another one")
            else:
                self.part(line, request, True)

    def part(self, line, message, whole):
        if line.word == "field":
            self.field(line, message.fields)
        elif line.word == "trailer":
            self.field(line, message.trailers)
        elif line.word == "body":
            self.text(line, "body", message.body)
        elif line.word == "no":
            if line.text == "body":
                self.equal("body", b"", message.body, line)
            elif line.text == "trailers":
                self.equal("trailers", [], list(message.trailers), line)
            elif line.text in message.fields:
                self.mismatch(line, line.text, "absent", message.fields.all(line.text))
        elif line.word == "keep":
            if line.name == "body":
                self.player.kept[line.text] = message.body
            elif line.name in message.fields:
                self.player.kept[line.text] = message.fields.get(line.name).encode("latin-1")
            else:
                self.mismatch(line, line.name, "present", near(line.name, message.fields))
        else:
            self.player.line = line.number
            raise self.player.bad(f"`{line.word}` says nothing about this")

    def text(self, line, what, got):
        wanted = self.player.value(line.text)
        if line.match == "~":
            if not re.search(wanted, got):
                self.mismatch(line, what, f"~ {line.text}", short(got))
        else:
            self.equal(what, wanted, got, line)

    def field(self, line, fields):
        """All lines of a name in a block are all values of that field, in that order."""
        same = [l for l in self.sentence.block if l.word == line.word and (l.name or "").lower() == line.name.lower()]
        got = fields.all(line.name)
        if not got:
            self.mismatch(line, line.name, line.text, near(line.name, fields))
        if line.match == "~":
            if not any(re.search(text_of(self.player.value(line.text)), value) for value in got):
                self.mismatch(line, line.name, f"~ {line.text}", got)
        elif line.text != "*":
            wanted = [text_of(self.player.value(l.text)) for l in same if l.match == ":"]
            if wanted != got:
                self.mismatch(line, line.name, " | ".join(wanted), " | ".join(got))

    def cache(self, line, response):
        """Members of étagère's entry in Cache-Status: `hit`, `fwd=stale`, `fwd-status=304`, `stored`, `ttl=57`, `detail=…`."""
        got = response.cache
        for word in line.text.split():
            name, equals, value = word.partition("=")
            if (got.get(name) != value) if equals else (got.get(name) is not True):
                self.mismatch(line, "Cache-Status", line.text, response["Cache-Status"])


def closes(client, within):
    try:
        return client.closed(within)
    finally:
        client.sock.settimeout(TIMEOUT)


def near(name, fields):
    close = difflib.get_close_matches(name.lower(), [n.lower() for n, _ in fields], 1)
    return "absent" + (f"; there is {close[0]}" if close else "")


def decoded(response):
    data = response.body
    for coding in reversed([c.strip().lower() for c in (response["Content-Encoding"] or "").split(",") if c.strip()]):
        if coding in ("gzip", "x-gzip"):
            data = gzip.decompress(data)
        elif coding == "deflate":
            data = zlib.decompress(data)
        else:
            raise Mismatch(f"decoded body: this runner does not know {coding!r}")
    return data


def short(value, other=None):
    """As text, in one line; long ones from where they begin to differ."""
    if not isinstance(value, bytes):
        return repr(value)
    at = 0
    if isinstance(other, bytes) and len(value) > 200:
        at = next((i for i, (a, b) in enumerate(zip(value, other)) if a != b), min(len(value), len(other)))
        at = max(0, at - 20)
    shown = repr(value[at:at + 200])[1:]
    return f"{'… ' if at else ''}{shown}{' …' if len(value) > at + 200 else ''} ({len(value)} bytes)"
