"""A small HTTP/1.1 load generator: closed loop, kept connections, one thread. It is not fast, but it costs the same
against every server, and the comparison runs it on a CPU of its own where there are two."""

import selectors
import socket
import time


class Lane:
    """One kept connection with at most one request outstanding."""

    def __init__(self, address, data):
        self.address, self.data, self.sock = address, data, None
        self.connect()

    def connect(self):
        self.sock = socket.create_connection(self.address, 10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self):
        self.seen, self.size, self.total, self.chunked, self.closing = b"", 0, None, False, False
        self.begin = time.perf_counter()
        self.sock.sendall(self.data)

    def receive(self):
        """Reads what is there; True when the response is complete."""
        data = self.sock.recv(262144)
        if not data:
            raise ConnectionError("closed in the middle of an answer")
        self.size += len(data)
        self.seen += data
        if self.total is None:
            end = self.seen.find(b"\r\n\r\n")
            if end < 0:
                return False
            self.read_head(self.seen[:end], end + 4)
        self.seen = self.seen[-5:]
        # These bodies are JSON: they do not contain the last chunk's line by themselves.
        return self.seen == b"0\r\n\r\n" if self.chunked else self.size >= self.total

    def read_head(self, head, length):
        lines = head.lower().split(b"\r\n")
        self.status = int(lines[0].split(b" ")[1])
        fields = dict(line.split(b": ", 1) for line in lines[1:] if b": " in line)
        self.closing = fields.get(b"connection") == b"close"
        self.told = fields.get(b"x-products-status") == b"304"
        self.chunked = fields.get(b"transfer-encoding") == b"chunked"
        self.total = length + (0 if self.status == 304 else int(fields.get(b"content-length", b"0")))


class Result:
    def __init__(self):
        self.times, self.received, self.elapsed, self.told = [], 0, 0.0, 0

    @property
    def count(self):
        return len(self.times)

    def percentile(self, share):
        """In milliseconds."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000

    @property
    def rate(self):
        return self.count / self.elapsed


def run(address, data, clients, seconds, status, most=1_000_000):
    """Sends `data` from `clients` connections for `seconds` (or `most` requests), then waits for what is outstanding.
    Every answer must have `status`."""
    result, selector = Result(), selectors.DefaultSelector()
    lanes = [Lane(address, data) for _ in range(clients)]
    begin = time.perf_counter()
    for lane in lanes:
        selector.register(lane.sock, selectors.EVENT_READ, lane)
        lane.send()
    open_lanes = clients
    try:
        while open_lanes:
            ready = selector.select(30)
            if not ready:
                raise AssertionError(f"no answer within 30 s from {address}")
            for key, _ in ready:
                lane = key.data
                if not lane.receive():
                    continue
                now = time.perf_counter()
                if lane.status != status:
                    raise AssertionError(f"{lane.status} instead of {status}: {data[:200]!r}")
                result.times.append(now - lane.begin)
                result.received += lane.size
                result.told += lane.told
                result.elapsed = now - begin
                if now - begin >= seconds or result.count >= most:
                    selector.unregister(lane.sock)
                    open_lanes -= 1
                    continue
                if lane.closing:
                    selector.unregister(lane.sock)
                    lane.sock.close()
                    lane.connect()
                    selector.register(lane.sock, selectors.EVENT_READ, lane)
                lane.send()
    finally:
        for lane in lanes:
            lane.sock.close()
        selector.close()
    return result
