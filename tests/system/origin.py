"""A scripted origin: answers each path with exact bytes or a function, and keeps every byte it was sent.

It reads requests as strictly as a careful server would. Anything étagère sends that it could not read in exactly one
way is kept in `violations`, and every test class ends by checking that there are none.
"""

import socket
import struct
import threading
import time

from wire import TIMEOUT, Fields, Reader, WireError, framing, pairs, response, split_head


class Request:
    """One request as received. `complete` turns true with its last byte; `connection` numbers the connection."""

    def __init__(self, connection, head):
        self.connection, self.head = connection, head
        line, self.fields = split_head(head, "request to the origin")
        try:
            self.method, self.target, self.version = line.decode("latin-1").split(" ")
        except ValueError:
            raise WireError(f"bad request line {line!r}") from None
        self.path = self.target.split("?")[0]
        self.body, self.trailers, self.complete = b"", Fields(), False

    def __getitem__(self, name):
        return self.fields.get(name)

    def __repr__(self):
        return f"<{self.method} {self.target} {'' if self.complete else 'incomplete '}{self.body[:40]!r}>"


class Exchange:
    """What a handler gets: the request, and ways to answer it well or badly."""

    def __init__(self, origin, reader, request):
        self.origin, self.reader, self.request = origin, reader, request
        self.open = True

    def send(self, data, bytewise=False):
        try:
            for piece in ((data[i:i + 1] for i in range(len(data))) if bytewise else (data,)):
                self.reader.sock.sendall(piece)
            return True
        except OSError:
            self.open = False
            return False

    def answer(self, status=200, fields=(), body=b"", **more):
        return self.send(response(status, fields, body, **more))

    def wait(self, event, timeout=TIMEOUT):
        if not event.wait(timeout):
            self.origin.violations.append(f"{self.request}: a test never set the event it made the origin wait for")

    def close(self):
        self.open = False

    def reset(self):
        self.reader.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.open = False

    def read_body(self):
        """Reads the rest of the request; done before the handler runs unless the path was set with `early`."""
        self.origin.read_body(self.reader, self.request)


def steps(*script):
    """A handler from a list: bytes are sent, an Event is waited for, 'close' and 'reset' end the connection."""
    def run(exchange):
        for step in script:
            if isinstance(step, (bytes, bytearray)):
                exchange.send(step)
            elif isinstance(step, threading.Event):
                exchange.wait(step)
            elif step == "close":
                exchange.close()
            elif step == "reset":
                exchange.reset()
            else:
                raise TypeError(step)
    return run


def validating(etag, body=b"", fields=(), not_modified=None, last_modified=None):
    """A handler like a careful Rails action: 304 for exactly its own ETag (compared as text, as Rack does) and, where
    it has one, exactly its own Last-Modified; 200 otherwise. `not_modified`: the fields of the 304 beside the ETag."""
    own = [("ETag", etag)] if etag else []
    own += [("Last-Modified", last_modified)] if last_modified else []

    def run(exchange):
        asked = exchange.request["If-None-Match"], exchange.request["If-Modified-Since"]
        matches = [a == b for a, b in zip(asked, (etag, last_modified)) if a is not None]
        if matches and all(matches):
            exchange.answer(304, own + pairs(fields if not_modified is None else not_modified))
        else:
            exchange.answer(200, own + pairs(fields), body)
    return run


class Origin:
    """Listens on a free loopback port (or on `unix`, a path). Each connection has a thread."""

    def __init__(self, unix=None, backlog=1024):
        self.lock = threading.Condition()
        self.requests, self.violations, self.handlers = [], [], {}
        self.connections = self.in_flight = self.most_in_flight = 0
        self.default = lambda exchange: exchange.answer(404, {"Content-Type": "text/plain"}, b"no such path")
        self.sockets = set()
        self.address, self.backlog = unix or ("127.0.0.1", 0), backlog
        self.listen()
        self.url = f"unix:{unix}" if unix else f"http://127.0.0.1:{self.address[1]}"

    def listen(self):
        """Accepts; after stop_listening() again, on the same port."""
        self.socket = socket.socket(socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.address)
        self.socket.listen(self.backlog)
        self.address = self.socket.getsockname()
        threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()

    def on(self, path, handler, early=False):
        """`handler`: bytes, a function of an Exchange, or a list whose members answer one request each (last repeats).
        `early` runs the handler before the request's body was read."""
        if isinstance(handler, list):
            handler = self.sequence(handler)
        elif isinstance(handler, (bytes, bytearray)):
            handler = steps(handler)
        self.handlers[path] = (handler, early)

    def sequence(self, members):
        rest = [steps(m) if isinstance(m, (bytes, bytearray)) else m for m in members]

        def run(exchange):
            with self.lock:
                member = rest.pop(0) if len(rest) > 1 else rest[0]
            member(exchange)
        return run

    def seen(self, path):
        """Requests for `path` so far, in order of arrival."""
        with self.lock:
            return [r for r in self.requests if r.path == path]

    def hits(self, path):
        return len(self.seen(path))

    def asked(self, path):
        """('full' or 'conditional') for each request for `path`: what `hits=2(1 cond)` means in the bug cases."""
        return ["conditional" if {"if-none-match", "if-modified-since"} & {n.lower() for n, _ in r.fields} else "full"
                for r in self.seen(path)]

    def wait_for(self, condition, what="the origin to see what it should", timeout=TIMEOUT):
        with self.lock:
            if not self.lock.wait_for(lambda: condition(self), timeout):
                raise AssertionError(f"waited {timeout} s for {what}; saw {self.requests[-5:]}")

    def wait_hits(self, path, count):
        self.wait_for(lambda o: sum(r.path == path for r in o.requests) >= count, f"{count} requests for {path}")

    def close_connections(self):
        """Closes every connection that étagère keeps to this origin."""
        with self.lock:
            for sock in list(self.sockets):
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop_listening(self):
        """From now on connecting is refused."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def stop(self):
        self.stop_listening()
        self.close_connections()

    def accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                number = self.connections
                self.sockets.add(sock)
                self.lock.notify_all()
            threading.Thread(target=self.serve, args=(sock, number), daemon=True).start()

    def serve(self, sock, number):
        reader = Reader(sock, timeout=60)
        try:
            if sock.family == socket.AF_INET:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while self.serve_one(reader, number):
                pass
        except WireError as error:
            self.violations.append(str(error))
        except (TimeoutError, OSError):
            pass
        finally:
            with self.lock:
                self.sockets.discard(sock)
                self.lock.notify_all()
            sock.close()

    def serve_one(self, reader, number):
        if not reader.buffer and not reader.fill():
            return False
        if reader.buffer.startswith(b"\r\n"):
            raise WireError("empty line before a request to the origin")
        request = Request(number, reader.until(b"\r\n\r\n", "request head"))
        with self.lock:
            self.requests.append(request)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self.lock.notify_all()
        try:
            handler, early = self.handlers.get(request.path, (self.default, False))
            exchange = Exchange(self, reader, request)
            if not early:
                if (request["Expect"] or "").lower() == "100-continue":
                    exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
                try:
                    exchange.read_body()
                except WireError as error:
                    if "connection ended" in str(error):
                        return False                    # an upload that was given up: `complete` stays false
                    raise
            handler(exchange)
            return exchange.open and (request["Connection"] or "").lower() != "close"
        finally:
            with self.lock:
                self.in_flight -= 1
                self.lock.notify_all()

    def read_body(self, reader, request):
        kind, length = framing(request.fields, f"{request.method} {request.target}")
        if kind == "length":
            request.body = reader.exactly(length, "request body")
        elif kind == "chunked":
            parts, chunks = [], reader.chunks("request")
            while True:
                try:
                    parts.append(next(chunks))
                except StopIteration as end:
                    request.trailers = end.value
                    break
            request.body = b"".join(parts)
        with self.lock:
            request.complete = True
            self.lock.notify_all()


def wait_until(condition, what, timeout=TIMEOUT):
    """For state of other processes that nobody notifies us about."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.01)
