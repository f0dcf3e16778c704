"""A real memcached on a free loopback port, and a proxy in front of it that fails on demand.

The proxy reads server replies of the text protocol item by item (classic VALUE and meta VA), so that a fault can be
aimed at one value; requests pass through untouched and are kept for inspection.
"""

import os
import re
import socket
import struct
import subprocess
import tempfile
import threading
from urllib.parse import unquote_to_bytes

from origin import wait_until
from wire import Client, Reader, WireError


class Memcached:
    """`options` go to memcached's command line, e.g. ("-I", "64k")."""

    def __init__(self, *options):
        self.directory = tempfile.TemporaryDirectory()
        self.options, self.process, self.port = options, None, -1
        self.start()

    def start(self):
        """Starts, or starts again, empty, on the same port."""
        ports = os.path.join(self.directory.name, "ports")
        if os.path.exists(ports):
            os.unlink(ports)
        command = ["memcached", "-l", "127.0.0.1", "-p", str(self.port), "-U", "0", "-t", "2",
                   "-o", "no_lru_maintainer", *self.options]     # items that move between its lists escape keys()
        if os.geteuid() == 0:
            command += ["-u", "root"]
        self.process = subprocess.Popen(command, env={**os.environ, "MEMCACHED_PORT_FILENAME": ports},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def port_known():
            if self.process.poll() is not None:
                raise AssertionError(f"memcached ended at once with {self.process.returncode}: {command}")
            try:
                with open(ports, encoding="ascii") as file:
                    found = re.search(r"TCP INET: (\d+)", file.read())
            except FileNotFoundError:
                return False
            if found:
                self.port = int(found[1])
            return bool(found)
        wait_until(port_known, "memcached to listen")

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    def command(self, text, end=(b"END\r\n", b"OK\r\n", b"STORED\r\n", b"DELETED\r\n", b"NOT_FOUND\r\n")):
        """Sends raw protocol text and returns the reply up to one of `end`."""
        with Client(self.address) as client:
            client.send(text if isinstance(text, bytes) else text.encode())
            while not client.reader.buffer.endswith(tuple(end)):
                if not client.reader.fill():
                    raise WireError(f"memcached closed: {client.reader.buffer[:200]!r}")
            return client.reader.buffer

    def flush(self):
        self.command("flush_all\r\n")

    def stat(self, name):
        return int(re.search(rf"STAT {name} (\d+)".encode(), self.command("stats\r\n"))[1])

    def keys(self):
        """Every key, through the LRU crawler; after flush_all() also some that have no value any more: see records()."""
        dump = self.command("lru_crawler metadump all\r\n", end=(b"END\r\n", b"END\r\n\r\n"))
        return [unquote_to_bytes(key) for key in re.findall(rb"key=(\S+) ", dump)]

    def records(self, enough=lambda found: True):
        """All items as {key: (flags, bytes)}, once they are `enough`."""
        found = {}

        def complete():
            found.clear()
            found.update((key, self.value(key)) for key in sorted(self.keys()))
            for key in [key for key, value in found.items() if value is None]:
                del found[key]
            return enough(found)
        wait_until(complete, "memcached to list what it holds")
        return dict(found)

    def value(self, key):
        """(flags, bytes) of one item, or None."""
        reply = self.command(b"get " + key + b"\r\n")
        found = re.match(rb"VALUE \S+ (\d+) (\d+)\r\n", reply)
        return (int(found[1]), reply[found.end():found.end() + int(found[2])]) if found else None

    def put(self, key, flags, data):
        self.command(b"set %s %d 0 %d\r\n%s\r\n" % (key, flags, len(data), data))

    def stop(self):
        self.process.terminate()
        self.process.wait(10)

    def close(self):
        self.stop()
        self.directory.cleanup()


class ResetNow(Exception):
    """Raised to end a proxied connection with RST."""


class FaultProxy:
    """Stands in front of `server` (a Memcached). Set `fault` to change what happens from the next reply on:

    pass            everything goes through
    hang            requests are swallowed, nothing is answered
    late            each reply waits for `release` (an Event)
    truncate        half of the reply, then close
    reset           `argument` bytes of the reply, then RST
    flip            bit 0 of byte `argument` of each value is inverted
    swap            values are exchanged: each key is answered with the value seen last for another key
    duplicate       each reply is sent twice
    oom / garbage   the reply is replaced by SERVER_ERROR out of memory / by nonsense
    """

    def __init__(self, server):
        self.server, self.fault, self.argument = server, "pass", 0
        self.release = threading.Event()
        self.requests, self.connections, self.replies_harmed = [], 0, 0
        self.values, self.open, self.lock = {}, set(), threading.Lock()
        self.socket = None
        self.port = 0
        self.listen()

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    def listen(self):
        """Accepts (again, on the same port)."""
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", self.port))
        self.socket.listen(64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()

    def refuse(self):
        """Connecting is refused from now on, and what is connected is cut."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()
        self.cut()

    def cut(self):
        """Closes every connection."""
        with self.lock:
            for sock in self.open:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def set(self, fault, argument=0):
        self.argument = argument
        self.fault = fault
        if fault == "late":
            self.release.clear()
        else:
            self.release.set()

    def close(self):
        self.release.set()
        self.refuse()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                server = socket.create_connection(self.server.address)
            except OSError:
                client.close()
                continue
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.open |= {client, server}
            threading.Thread(target=self.upstream, args=(client, server), daemon=True).start()
            threading.Thread(target=self.downstream, args=(client, server), daemon=True).start()

    def finish(self, client, server, client_side):
        """Each of the two threads ends here once; the second closes the sockets. `client_side`: how to shut the
        client's, or None to leave that to the other thread."""
        for sock, how in ((server, socket.SHUT_RDWR), (client, client_side)):
            try:
                if how is not None:
                    sock.shutdown(how)
            except OSError:
                pass
        with self.lock:
            second = client not in self.open
            self.open -= {client, server}
        if second:
            client.close()
            server.close()

    def upstream(self, client, server):
        try:
            while data := client.recv(65536):
                with self.lock:
                    self.requests.append(data)
                if self.fault != "hang":
                    server.sendall(data)
        except OSError:
            pass
        self.finish(client, server, None)

    def downstream(self, client, server):
        reader = Reader(server, timeout=60)
        try:
            while reader.buffer or reader.fill():
                self.deliver(client, self.read_item(reader))
        except ResetNow:                          # a FIN first would make it an orderly end
            self.finish(client, server, socket.SHUT_RD)
            return
        except (OSError, WireError):
            pass
        self.finish(client, server, socket.SHUT_RDWR)

    def read_item(self, reader):
        """(key or None, head line, data or None) of the next reply line with its data block."""
        line = reader.until(b"\r\n", "memcached reply")
        found = re.match(rb"VALUE (\S+) \d+ (\d+)(?: \d+)?\r\n", line) or re.match(rb"VA() ?(\d+)[^\r]*\r\n", line)
        if not found:
            return None, line, None
        data = reader.exactly(int(found[2]) + 2, "memcached value")[:-2]
        return found[1], line, data

    def deliver(self, client, item):
        key, line, data = item
        if key is not None:
            with self.lock:
                self.values[key] = (line, data)
        whole = line + (data + b"\r\n" if data is not None else b"")
        fault = self.fault
        if fault == "pass":
            client.sendall(whole)
            return
        if fault not in ("flip", "swap") or data is not None:
            with self.lock:
                self.replies_harmed += 1
        if fault == "late":
            self.release.wait(30)
            client.sendall(whole)
        elif fault == "truncate":
            client.sendall(whole[:max(1, len(whole) // 2)])
            raise WireError("cut")
        elif fault == "reset":
            client.sendall(whole[:self.argument])
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise ResetNow
        elif fault == "flip" and data is not None:
            at = self.argument % len(data) if data else 0
            client.sendall(line + data[:at] + bytes([data[at] ^ 1]) + data[at + 1:] + b"\r\n" if data else whole)
        elif fault == "swap" and data is not None:
            client.sendall(self.foreign(key, line, data))
        elif fault == "duplicate":
            client.sendall(whole * 2)
        elif fault == "oom":
            client.sendall(b"SERVER_ERROR out of memory storing object\r\n")
        elif fault == "garbage":
            client.sendall(b"\x81\x00\xffGARBAGE\x00\r\n\r\nVALUE\r\n")
        else:
            client.sendall(whole)

    def foreign(self, key, line, data):
        """The head of this key's reply with another key's flags and data."""
        with self.lock:
            others = [value for other, value in self.values.items() if other != key]
        if not others:
            return line + data + b"\r\n"
        other_line, other_data = others[-1]
        if line.startswith(b"VALUE"):
            flags = other_line.split(b" ")[2]
            return b"VALUE %s %s %d\r\n%s\r\n" % (key, flags, len(other_data), other_data)
        return other_line + other_data + b"\r\n"

    def wire(self):
        """Every request byte seen so far."""
        with self.lock:
            return b"".join(self.requests)
