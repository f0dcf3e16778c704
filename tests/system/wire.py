"""HTTP/1 on the wire, as bytes: a client that sends exactly what it is told and a response reader that forgives nothing.

The reader is written apart from étagère's parser on purpose: two parsers that agree are worth more than one used twice.
"""

import re
import socket
import struct
import time

TIMEOUT = 10.0
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) ([\t\x20-\x7e\x80-\xff]*)\Z")


class WireError(AssertionError):
    """The peer broke HTTP/1.1 framing, or stopped in the middle of a message."""


class Fields(list):
    """Field lines in the order received, as (name, value) text pairs; names compare without case."""

    def all(self, name):
        return [value for key, value in self if key.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return ", ".join(values) if values else default

    def __contains__(self, name):
        return bool(self.all(name))


def parse_fields(lines, where):
    fields = Fields()
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.match(name):
            raise WireError(f"{where}: bad field line {line!r}")
        if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value):
            raise WireError(f"{where}: control character in {line!r}")
        fields.append((name.decode("latin-1"), value.strip(b" \t").decode("latin-1")))
    return fields


def split_head(head, where):
    """Start line and fields of a head that ends in an empty line; every line must end in CRLF."""
    assert head.endswith(b"\r\n\r\n")
    lines = head[:-4].split(b"\r\n")
    for line in lines:
        if b"\n" in line or b"\r" in line:
            raise WireError(f"{where}: bare CR or LF in {line!r}")
    return lines[0], parse_fields(lines[1:], where)


class Reader:
    """Buffered reads from a socket; `timeout` bounds each wait, EOF and reset both end the stream."""

    def __init__(self, sock, timeout=TIMEOUT):
        self.sock = sock
        self.buffer = b""
        self.eof = False
        self.was_reset = False
        sock.settimeout(timeout)

    def fill(self):
        if self.eof:
            return False
        try:
            data = self.sock.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            data, self.was_reset = b"", True
        if not data:
            self.eof = True
            return False
        self.buffer += data
        return True

    def take(self, count):
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def exactly(self, count, what):
        parts, missing = [], count
        while missing:
            if not self.buffer and not self.fill():
                raise WireError(f"connection ended inside {what}: {count - missing} of {count} bytes")
            parts.append(self.take(missing))
            missing -= len(parts[-1])
        return b"".join(parts)

    def until(self, mark, what, limit=1 << 20):
        start = 0
        while (at := self.buffer.find(mark, start)) < 0:
            start = max(0, len(self.buffer) - len(mark) + 1)
            if len(self.buffer) > limit:
                raise WireError(f"{what} is longer than {limit} bytes")
            if not self.fill():
                raise WireError(f"connection ended inside {what}: {self.buffer[:200]!r}")
        return self.take(at + len(mark))

    def chunks(self, what):
        """Yields the chunk data of a chunked body, then reads the (returned) trailer section."""
        while True:
            line = self.until(b"\r\n", f"{what} chunk size", 4096)[:-2]
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,16}", line):
                raise WireError(f"{what}: bad chunk size line {line!r}")
            size = int(line, 16)
            if size == 0:
                break
            yield self.exactly(size, f"{what} chunk")
            if self.exactly(2, f"{what} chunk end") != b"\r\n":
                raise WireError(f"{what}: no CRLF after chunk data")
        trailers = []
        while (line := self.until(b"\r\n", f"{what} trailer", 65536)[:-2]):
            trailers.append(line)
        return parse_fields(trailers, f"{what} trailer")

    def to_eof(self):
        while self.fill():
            pass
        return self.take(len(self.buffer))


def framing(fields, where):
    """('chunked' | 'length' | 'none', length); refuses every ambiguous combination."""
    lengths, codings = fields.all("Content-Length"), fields.all("Transfer-Encoding")
    if codings and lengths:
        raise WireError(f"{where}: Transfer-Encoding together with Content-Length")
    if codings:
        if codings != ["chunked"]:
            raise WireError(f"{where}: Transfer-Encoding {codings}")
        return "chunked", 0
    if lengths:
        if len(lengths) != 1 or not re.fullmatch("[0-9]+", lengths[0]):
            raise WireError(f"{where}: Content-Length {lengths}")
        return "length", int(lengths[0])
    return "none", 0


class Response:
    """One final response: `status`, `fields`, `body`, `trailers`, and the 1xx that came before it in `interim`."""

    def __init__(self, status, reason, fields):
        self.status, self.reason, self.fields = status, reason, fields
        self.body, self.trailers, self.interim = b"", Fields(), []

    def __getitem__(self, name):
        return self.fields.get(name)

    @property
    def cache(self):
        """Cache-Status of étagère as a dictionary (RFC 9211): flags are True, parameters are text."""
        value = self.fields.get("Cache-Status") or ""
        for member in value.split(","):
            name, *params = [part.strip() for part in member.split(";")]
            if name == "etagere":
                return {key: (text.strip('"') if equals else True)
                        for key, equals, text in (param.partition("=") for param in params)}
        return {}

    @property
    def why(self):
        return self.cache.get("detail")

    def __repr__(self):
        return f"<{self.status} {self['Cache-Status']} {self.body[:60]!r}>"


class Client:
    """A connection to `address` ((host, port) or a path). Sending into a closed connection is not an error here:
    what matters is what comes back."""

    def __init__(self, address, timeout=TIMEOUT, receive_buffer=None):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(address)
        except OSError:
            self.sock.close()
            raise
        if family == socket.AF_INET:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = Reader(self.sock, timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def finish_sending(self):
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def send(self, data, bytewise=False):
        """`bytewise` sends every byte in a segment of its own. Returns False when the peer has closed already."""
        try:
            if bytewise:
                for at in range(len(data)):
                    self.sock.sendall(data[at:at + 1])
            else:
                self.sock.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def read_head(self):
        """The next head, interim ones included."""
        head = self.reader.until(b"\r\n\r\n", "response head")
        line, fields = split_head(head, "response")
        match = STATUS_LINE.match(line)
        if not match:
            raise WireError(f"bad status line {line!r}")
        return Response(int(match[1]), match[2].decode("latin-1"), fields)

    def read_final_head(self):
        interim = []
        while True:
            response = self.read_head()
            if response.status >= 200 or response.status == 101:
                response.interim = interim
                return response
            interim.append(response)

    def read(self, method="GET"):
        """A whole final response. Raises WireError when it is malformed or cut short."""
        response = self.read_final_head()
        if response.status in (101, 204, 304):
            if "Transfer-Encoding" in response.fields:
                raise WireError(f"{response.status} with Transfer-Encoding")
            return response
        kind, length = framing(response.fields, f"response {response.status}")
        if method == "HEAD":
            return response
        if kind == "chunked":
            parts, chunks = [], self.reader.chunks("response")
            while True:
                try:
                    parts.append(next(chunks))
                except StopIteration as end:
                    response.trailers = end.value
                    break
            response.body = b"".join(parts)
        elif kind == "length":
            response.body = self.reader.exactly(length, "response body")
        else:
            if "close" not in (response["Connection"] or ""):
                raise WireError("response without length on a connection that is kept")
            response.body = self.reader.to_eof()
        return response

    def ask(self, method, target, fields=(), body=None, version="HTTP/1.1"):
        self.send(request(method, target, fields, body, version))
        return self.read(method)

    def closed(self, within=TIMEOUT):
        """True once the peer has closed, with nothing more sent; False when it is still open after `within` seconds.
        Raises WireError for bytes nobody asked for."""
        deadline = time.monotonic() + within
        while not self.reader.eof:
            if self.reader.buffer:
                raise WireError(f"bytes nobody asked for: {self.reader.buffer[:300]!r}")
            self.sock.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                self.reader.fill()
            except TimeoutError:
                return False
        if self.reader.buffer:
            raise WireError(f"bytes nobody asked for: {self.reader.buffer[:300]!r}")
        return True


def lines(*parts):
    """Joins text or byte lines with CRLF and ends the head with an empty line."""
    return b"\r\n".join(p if isinstance(p, bytes) else p.encode("latin-1") for p in parts) + b"\r\n\r\n"


def pairs(fields):
    return list(fields.items()) if isinstance(fields, dict) else list(fields)


def request(method, target, fields=(), body=None, version="HTTP/1.1"):
    """A well-formed request; adds Host and Content-Length where the caller gave none."""
    given = pairs(fields)
    names = {name.lower() for name, _ in given}
    if "host" not in names:
        given.insert(0, ("Host", "shop.test"))
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        given.append(("Content-Length", str(len(body))))
    return lines(f"{method} {target} {version}", *(f"{n}: {v}" for n, v in given)) + (body or b"")


def response(status=200, fields=(), body=b"", reason="Any", version="HTTP/1.1"):
    """A well-formed response; adds Content-Length where the caller chose no framing and the status has a body."""
    given = pairs(fields)
    names = {name.lower() for name, _ in given}
    if status >= 200 and status not in (204, 304) and not names & {"content-length", "transfer-encoding"}:
        given.append(("Content-Length", str(len(body))))
    return lines(f"{version} {status} {reason}", *(f"{n}: {v}" for n, v in given)) + body


def chunked(*parts, trailers=()):
    """The bytes of a chunked body."""
    data = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts)
    return data + b"0\r\n" + b"".join(f"{n}: {v}\r\n".encode("latin-1") for n, v in trailers) + b"\r\n"
