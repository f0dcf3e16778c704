"""The origin of a conversation: rules that say what is answered, and the steps of one answer."""

import re
import threading
import time

from language import BadConversation
from values import expand, text_of
from wire import response


def message(lines, value, framed=True):
    """Fields and body of a block of `Field: value`, `body:`, `chunk:` and `trailer` lines: (fields, body or None)."""
    fields, trailers, chunks, body, chunked = [], [], [], None, False
    for line in lines:
        if line.word == "field":
            fields.append((line.name, text_of(value(line.text))))
        elif line.word == "trailer":
            trailers.append((line.name, text_of(value(line.text))))
        elif line.word == "chunk":
            chunked = True
            chunks.append(value(line.text))
        elif line.word == "body":
            body = (body or b"") + value(line.text)
    names = {name.lower() for name, _ in fields}
    if (chunked or trailers) and framed and not names & {"content-length", "transfer-encoding"}:
        fields.append(("Transfer-Encoding", "chunked"))
    return fields, body, chunks, trailers


def one_chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def end_of_chunks(trailers):
    return b"0\r\n" + b"".join(f"{n}: {v}\r\n".encode("latin-1") for n, v in trailers) + b"\r\n"


class Condition:
    """`when Name: value`, `when Name ~ pattern`, `when Name has member`, `when no Name`, `when Name`."""

    def __init__(self, text):
        self.text = text
        match = re.fullmatch(r"(no )?([A-Z][\w-]*)(?:(:| ~| has)\s*(.*))?", text)
        if not match or (match[1] and match[3]):
            raise ValueError(f"when {text}: not a condition")
        self.absent, self.name, self.how, self.value = bool(match[1]), match[2], (match[3] or "").strip(), match[4] or ""

    def holds(self, request):
        got = request[self.name]
        if self.absent or got is None:
            return self.absent and got is None
        if self.how == ":":
            return got == self.value
        if self.how == "~":
            return re.search(self.value, got) is not None
        if self.how == "has":
            members = [member.strip().removeprefix("W/") for member in got.split(",")]
            return self.value.removeprefix("W/") in members
        return True


class Rule:
    """`origin answers [METHOD] [/path] STATUS|raw [once] [when …]` with its block."""

    def __init__(self, path, sentence):
        self.sentence, self.once, self.method, self.path, self.condition = sentence, False, None, None, None
        self.status = None
        words = list(sentence.words)

        def fail(what):
            raise BadConversation(f"{path}:{sentence.number}: {what}")
        while words:
            word = words.pop(0)
            if word == "once":
                self.once = True
            elif word == "when":
                try:
                    self.condition = Condition(sentence.text.partition(" when ")[2].strip())
                except ValueError as error:
                    fail(str(error))
                if re.search(r" once\Z", sentence.text):
                    fail("`once` stands before `when`")
                words = []
            elif re.fullmatch(r"\d{3}|raw", word):
                self.status = word
            elif word.startswith("/"):
                self.path = word
            elif re.fullmatch(r"[A-Z][A-Z-]*", word):
                self.method = word
            else:
                fail(f"unknown word {word!r}; origin answers [METHOD] [/path] STATUS|raw [once] [when …]")
        if self.status is None:
            fail("origin answers what? A status, or `raw`")

    def takes(self, request):
        return ((self.method is None or self.method == request.method) and
                (self.path is None or self.path in (request.path, request.target)) and
                (self.condition is None or self.condition.holds(request)))


class Script:
    """Answers for the origin, in its threads; the newest rule that fits wins."""

    def __init__(self, player):
        self.player, self.rules, self.lock = player, [], threading.Condition()
        self.paused, self.let_go, self.ended = 0, 0, False

    def add(self, rule):
        with self.lock:
            self.rules.insert(0, rule)

    def go_on(self, patience):
        """Lets every pause end; false when none was reached. What was seen a moment ago is given the time to get there."""
        end = time.monotonic() + patience
        while self.paused < max(1, self.player.origin.in_flight) and time.monotonic() < end:
            time.sleep(0.001)
        with self.lock:
            if not self.paused:
                return False
            self.let_go += 1
            self.paused = 0
            self.lock.notify_all()
            return True

    def end(self):
        with self.lock:
            self.ended = True
            self.lock.notify_all()

    def pause(self):
        with self.lock:
            self.paused += 1
            turn = self.let_go
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.let_go > turn or self.ended, 60)

    def answer(self, exchange):
        with self.lock:
            rule = next((r for r in self.rules if r.takes(exchange.request)), None)
            if rule and rule.once:
                self.rules.remove(rule)
        if rule is None:
            self.player.origin_said_nothing(exchange.request)
            exchange.answer(500, {"Content-Type": "text/plain"}, b"the conversation has no answer for this")
            return
        self.player.note(f"origin < {exchange.request.method} {exchange.request.target}", exchange.request.fields,
                         exchange.request.body)
        self.player.note(f"origin > {rule.status} (line {rule.sentence.number})")

        def value(text):
            return expand(text, self.player.clock.wall(), self.player.kept, exchange.request)
        if rule.status == "raw":
            self.raw(exchange, rule.sentence.block, value)
        else:
            self.message(exchange, int(rule.status), rule.sentence.block, value)

    def raw(self, exchange, block, value):
        for line in block:
            if line.word == "raw":
                exchange.send(raw_line(line.text, value))
            else:
                self.step(exchange, line.word)

    def message(self, exchange, status, block, value):
        bare = any(line.word == "no" for line in block)
        fields, body, chunks, trailers = message(block, value, not bare)
        chunked = ("Transfer-Encoding", "chunked") in fields
        names = {name.lower() for name, _ in fields}
        silent = exchange.request.method == "HEAD" or status in (204, 304)
        if bare:
            exchange.open = False
        elif silent and status == 200 and body is not None and not names & {"content-length", "transfer-encoding"}:
            fields.append(("Content-Length", str(len(body))))
        elif not silent and not names & {"content-length", "transfer-encoding"}:
            fields.append(("Content-Length", str(len(body or b""))))
        # An explicit length keeps `response` from adding one, and so does a field that nobody sends.
        head = response(status if not (bare or silent) else 204, fields, b"").replace(b" 204 ", b" %d " % status, 1)
        sent, ended, cut = False, False, False
        for line in block:
            if line.word == "interim":
                exchange.send(response(line.status, [(line.name, text_of(value(line.text)))] if line.name else []))
            elif line.word in ("body", "chunk", "head", "last chunk"):
                if not sent:
                    exchange.send(head)
                    sent = True
                if line.word == "body" and not silent:
                    exchange.send(value(line.text))
                elif line.word == "chunk" and not silent:
                    exchange.send(one_chunk(value(line.text)))
                elif line.word == "last chunk" and not silent:
                    exchange.send(end_of_chunks(trailers))
                    ended = True
            elif line.word in ("close", "reset", "pause"):
                cut = cut or line.word != "pause"
                if cut and not sent and body is None and not chunks:
                    exchange.send(head)
                    sent = True
                self.step(exchange, line.word)
        if not sent:
            exchange.send(head)
        if chunked and not silent and not ended and not cut:
            exchange.send(end_of_chunks(trailers))

    def step(self, exchange, word):
        if word == "pause":
            self.pause()
        elif word == "reset":
            exchange.reset()
        elif word == "close":
            exchange.close()


def raw_line(text, value):
    """A raw line ends in CRLF unless it ends in a backslash."""
    if text.endswith("\\") and not text.endswith("\\\\"):
        return value(text[:-1])
    return value(text) + b"\r\n"
