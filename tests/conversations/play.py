"""Plays one conversation: a real étagère whose clock the conversation moves, a scripted origin, clients that are strict."""

import difflib
import mmap
import os
import re
import tempfile
import threading
import time

from expect import Expectation, Mismatch
from harness import Etagere, run_cli
from language import BadConversation, duration, read
from memcached import FaultProxy, Memcached
from origin import Origin, wait_until
from script import Rule, Script, end_of_chunks, message, one_chunk, raw_line
from values import expand
from wire import Client, WireError, request

PATIENCE = 5.0                                    # seconds of real time for what has to happen by itself

CONFIG = """version: 1
workers: 1
listeners:
  ingress:
    address: "127.0.0.1:0"
{listener}  admin: {{ address: "127.0.0.1:0", role: admin }}
upstreams:
  app:
    endpoints: ["@ORIGIN@"]
{upstream}stores:
  default:
{store}{settings}routes:
{routes}"""


class Failed(Exception):
    """The conversation went another way than the file says. `str()` tells all of it."""


class Clock:
    """What étagère takes for the time. Wall time starts at a whole second and moves only here."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="etagere-clock-")
        self.file.write(bytes(16))
        self.file.flush()
        self.shared = mmap.mmap(self.file.fileno(), 16)
        self.numbers = memoryview(self.shared).cast("q")
        self.start, self.ahead = int(time.time()) * 1000, 0
        self.numbers[0] = self.start

    def move(self, milliseconds):
        self.ahead += milliseconds
        self.numbers[1] = self.ahead
        self.numbers[0] = self.start + self.ahead

    def wall(self):
        return (self.start + self.ahead) / 1000

    def close(self):
        self.numbers.release()
        self.shared.close()
        self.file.close()


class Talker:
    """A client with a connection: what it asked and has not yet got an answer to, in order."""

    def __init__(self, client):
        self.client, self.pending, self.head = client, [], None

    def method(self):
        return self.pending.pop(0) if self.pending else "GET"


class Player:
    def __init__(self, path, text):
        self.path, self.sentences = path, read(path, text)
        self.clock, self.kept, self.transcript, self.lock = Clock(), {}, [], threading.Lock()
        self.blocks = {"route": [], "upstream": [], "store": [], "listener": [], "settings": [], "config": None}
        self.line = 0
        self.origin, self.script = Origin(), Script(self)
        self.origin.default = self.script.answer
        self.anything = False                     # until the next client speaks
        self.unanswered, self.mentioned, self.last_connection = [], set(), None
        self.memcached = self.proxy = self.etagere = None
        self.talkers, self.unnamed, self.group, self.everyone = {}, {}, [], []

    # What everything that happens is written to.

    def note(self, what, fields=(), body=b""):
        shown = "".join(f"\n{' ' * 14}{name}: {value}" for name, value in fields)
        if body:
            shown += f"\n{' ' * 14}{body[:120]!r}{f' … {len(body)} bytes' if len(body) > 120 else ''}"
        with self.lock:
            self.transcript.append(f"  {self.clock.ahead / 1000:9.3f} s  {what}{shown}")

    def origin_said_nothing(self, asked):
        self.note(f"origin < {asked.method} {asked.target}: no rule of the conversation answers this", asked.fields)
        self.unanswered.append(asked)

    def wrong(self, what, number=None):
        told = "\n".join(self.transcript)
        tail = f"\n\nétagère's log:\n{self.etagere.tail(12)}" if self.etagere else ""
        return Failed(f"{self.path}:{number or self.line}: {what}\n\nthe conversation so far (virtual time):\n{told}{tail}")

    def bad(self, what):
        return BadConversation(f"{self.path}:{self.line}: {what}")

    def value(self, text):
        return expand(text, self.clock.wall(), self.kept)

    # The whole of it.

    def play(self):
        try:
            for sentence in self.sentences:
                self.line = sentence.number
                name = "_".join(part for part in (sentence.subject, sentence.verb) if part)
                self.note(f"line {sentence.number}: {sentence.text}")
                getattr(self, f"do_{name}")(sentence)
                if self.unanswered:
                    raise self.wrong(f"the origin was asked {self.unanswered[0]} and the conversation has no answer for it")
            self.finish()
        except (Mismatch, WireError) as error:
            raise self.wrong(str(error)) from None
        except TimeoutError:
            raise self.wrong("waited too long for bytes that did not come") from None
        except AssertionError as error:
            raise self.wrong(str(error)) from None
        finally:
            self.close()

    def finish(self):
        self.line = self.sentences[-1].number
        waiting = [t for t in self.everyone if t.pending]
        if waiting:
            raise self.wrong("the conversation ends while a client waits for an answer: what does it get?")
        if self.etagere:
            self.settle()
        self.all_mentioned()
        if self.etagere:
            self.script.end()
            for talker in self.everyone:
                talker.client.close()
            self.etagere.stop()
        if self.origin.violations:
            raise self.wrong(f"the origin was sent what it could not read safely: {self.origin.violations}")

    def close(self):
        self.script.end()
        for talker in self.everyone:
            talker.client.close()
        if self.etagere and self.etagere.process.poll() is None:
            self.etagere.kill()
        self.origin.stop()
        if self.proxy:
            self.proxy.close()
        if self.memcached:
            self.memcached.close()
        self.clock.close()

    # Configuration. It is taken when the first client speaks, or at `etagere starts`, `reloads`, `refuses`.

    def keep_block(self, sentence):
        kind = sentence.subject
        if not sentence.block:
            raise self.bad(f"{kind!r} needs a block of YAML")
        if kind == "config":
            self.blocks["config"] = sentence.block
        elif kind == "route":
            path = sentence.words[0] if sentence.words else "/**"
            routes = [r for r in self.blocks["route"] if r[0] != path]
            self.blocks["route"] = routes + [(path, sentence.block)]
        else:
            self.blocks[kind] = sentence.block
    do_config = do_route = do_upstream = do_store = do_listener = do_settings = keep_block

    def config(self):
        if self.blocks["config"] is not None:
            return "\n".join(self.blocks["config"]) + "\n"

        def indented(lines, depth):
            return "".join(" " * depth + line + "\n" for line in lines)
        routes = sorted(self.blocks["route"], key=lambda r: r[0] == "/**")
        if not routes or routes[-1][0] != "/**":
            routes.append(("/**", []))
        store = list(self.blocks["store"])
        if self.memcached and not any(line.startswith("memcached") for line in store):
            store.append('memcached: { servers: "@MEMCACHED@", timeout: 2s }')
        if not any(line.startswith("memory") for line in store):
            store.append("memory: { size: 64MiB, max_object: 4MiB }")
        written = ""
        for number, (path, block) in enumerate(routes):
            name = "all" if path == "/**" else f"route-{number + 1}"
            match = [] if any(line.startswith("match") for line in block) else [f'match: {{ path: "{path}" }}']
            lines = [f"name: {name}", *match, "upstream: app", *block]
            written += "  - " + indented(lines, 4).lstrip()
        return CONFIG.format(listener=indented(self.blocks["listener"], 4), upstream=indented(self.blocks["upstream"], 4),
                             store=indented(store, 4), settings=indented(self.blocks["settings"], 0), routes=written)

    def values(self):
        values = {"ORIGIN": self.origin.url}
        if self.proxy:
            values["MEMCACHED"] = f"127.0.0.1:{self.proxy.port}"
        return values

    def start(self):
        if self.etagere is None:
            try:
                self.etagere = Etagere(self.config(), values=self.values(),
                                       env={"ETAGERE_VIRTUAL_CLOCK": self.clock.file.name})
            except AssertionError as error:
                raise Failed(f"{self.path}:{self.line}: {error}\n\nthe configuration:\n{self.config()}") from None

    def do_etagere_starts(self, sentence):
        if self.etagere:
            raise self.bad("étagère runs already; `etagere restarts` or `etagere reloads`")
        self.start()

    def do_etagere_restarts(self, sentence):
        self.settle()
        for talker in self.everyone:
            talker.client.close()
        self.etagere.stop()
        self.etagere = None
        self.talkers, self.unnamed, self.group, self.everyone = {}, {}, [], []
        self.start()

    def do_etagere_reloads(self, sentence):
        self.start()
        if not self.etagere.reload(self.config()):
            raise self.wrong("étagère refused the configuration")

    def check(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "etagere.yaml")
            text = self.config()
            for name, value in self.values().items():
                text = text.replace(f"@{name}@", value)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            code, out, err = run_cli("check", path, env={"ETAGERE_VIRTUAL_CLOCK": self.clock.file.name})
            return code, (out + err).replace(path, "etagere.yaml")

    def do_etagere_refuses(self, sentence):
        code, report = self.check()
        self.note(f"etagere check: exit code {code}\n{report}")
        if code != 3:
            raise self.wrong(f"étagère accepts this configuration (exit code {code})")
        for text in sentence.block:
            if text.strip() not in report:
                raise self.wrong(f"the report does not contain {text.strip()!r}:\n{report}")

    def do_etagere_accepts(self, sentence):
        code, report = self.check()
        self.note(f"etagere check: exit code {code}\n{report}")
        if code != 0:
            raise self.wrong(f"étagère refuses this configuration (exit code {code}):\n{report}")
        for text in sentence.block:
            if text.strip() not in report:
                raise self.wrong(f"the report does not contain {text.strip()!r}:\n{report}")

    def do_etagere_holds(self, sentence):
        """`etagere holds 20 requests`: they are inside, and wait."""
        if not sentence.words or not sentence.words[0].isdigit():
            raise self.bad("etagere holds N requests")
        self.wait_metric("etagere_http_requests_in_flight", {}, int(sentence.words[0]))

    def do_etagere_logs(self, sentence):
        """Waits for an access line with all of the members of the block."""
        wanted = {}
        for line in sentence.block:
            name, colon, value = line.partition(": ")
            if not colon:
                raise self.bad(f"{line!r}: a line is `member: value`")
            wanted[name.strip()] = self.value(value.strip()).decode()
        lines = [r for r in self.etagere.log]

        def found():
            lines[:] = list(self.etagere.log)
            return any(all(str(record.get(k)) == v for k, v in wanted.items()) for record in lines)
        try:
            wait_until(found, "the log", PATIENCE)
        except AssertionError:
            raise self.wrong(f"no line of the log has {wanted}") from None

    def do_metric(self, sentence):
        """`metric NAME{label="x"} is N`"""
        match = re.fullmatch(r"metric ([a-z_]+)(?:\{(.*)\})? is (\d+)", sentence.text)
        if not match:
            raise self.bad('metric NAME{label="value"} is N')
        labels = dict(re.findall(r'([a-z_]+)="([^"]*)"', match[2] or ""))
        self.wait_metric(match[1], labels, int(match[3]))

    def wait_metric(self, name, labels, wanted):
        self.start()
        try:
            wait_until(lambda: self.etagere.metric(name, **labels) == wanted, name, PATIENCE)
        except AssertionError:
            raise self.wrong(f"{name} {labels or ''}: expected {wanted}, is {self.etagere.metric(name, **labels):g}") from None

    def settle(self):
        """Between two steps nothing is left half done: the last answer is counted and published, memcached is written."""
        def quiet():
            found = self.etagere.metrics()
            return not any(value for name, value in found.items()
                           if name.startswith(("etagere_http_requests_in_flight", "etagere_store_pending_writes")))
        try:
            wait_until(quiet, "quiet", PATIENCE)
        except AssertionError:
            busy = {n: v for n, v in self.etagere.metrics().items() if v and re.search("in_flight|pending_writes", n)}
            raise self.wrong(f"étagère does not come to rest: {busy}") from None

    # Time, memcached.

    def do_wait(self, sentence):
        milliseconds = duration(sentence.words[0]) if len(sentence.words) == 1 else None
        if milliseconds is None:
            raise self.bad("wait how long? 250ms, 3s, 5m, 2h, 30d")
        if self.etagere and not any(t.pending for t in self.everyone):
            self.settle()
        self.clock.move(milliseconds)

    def do_memcached(self, sentence):
        if self.etagere or self.memcached:
            raise self.bad("`memcached` stands once, before the first client speaks")
        self.memcached = Memcached(*sentence.words)
        self.proxy = FaultProxy(self.memcached)

    def need_memcached(self):
        if not self.memcached:
            raise self.bad("there is no memcached: say `memcached` at the beginning")
        if self.etagere and not any(t.pending for t in self.everyone):
            self.settle()

    def do_memcached_dies(self, sentence):
        self.need_memcached()
        self.proxy.refuse()
        self.memcached.stop()

    def do_memcached_returns(self, sentence):
        self.need_memcached()
        self.memcached.start()
        self.proxy.listen()

    def do_memcached_forgets(self, sentence):
        """`memcached forgets everything`, or the keys that contain a text: `memcached forgets :e:` (the bodies)."""
        self.need_memcached()
        text = " ".join(sentence.words)
        if not text:
            raise self.bad("memcached forgets what? `everything`, or a part of the keys: `:m:` heads, `:e:` bodies")
        if text == "everything":
            self.memcached.flush()
            return
        keys = [key for key in self.memcached.records() if text.encode() in key]
        if not keys:
            raise self.wrong(f"no key in memcached has {text!r}: {self.memcached.keys()}")
        for key in keys:
            self.memcached.command(b"delete " + key + b"\r\n")

    def do_memcached_fault(self, sentence):
        self.need_memcached()
        known = ["pass", "hang", "late", "truncate", "reset", "flip", "swap", "duplicate", "oom", "garbage"]
        if not sentence.words or sentence.words[0] not in known:
            near = difflib.get_close_matches((sentence.words or [""])[0], known, 1)
            raise self.bad(f"memcached fault what? {'did you mean ' + repr(near[0]) + '?' if near else ', '.join(known)}")
        self.proxy.set(sentence.words[0], int(sentence.words[1]) if len(sentence.words) > 1 else 0)

    # The origin.

    def do_origin_answers(self, sentence):
        self.script.add(Rule(self.path, sentence))

    def do_origin_goes(self, sentence):
        if sentence.words != ["on"]:
            raise self.bad("origin goes on")
        if not self.script.go_on(PATIENCE):
            raise self.wrong("the origin has reached no `pause`")

    def do_origin_closes(self, sentence):
        """Every connection that étagère keeps."""
        self.settle()
        self.origin.close_connections()
        self.origin.wait_for(lambda o: not o.sockets, "the origin's connections to be closed", PATIENCE)

    def do_origin_leaves(self, sentence):
        self.settle()
        self.origin.stop_listening()
        self.origin.close_connections()

    def do_origin_returns(self, sentence):
        self.origin.listen()

    def unmentioned(self):
        with self.origin.lock:
            return [r for r in self.origin.requests if id(r) not in self.mentioned]

    def all_mentioned(self):
        if self.anything:
            self.mentioned |= {id(r) for r in self.unmentioned()}
        if rest := self.unmentioned():
            raise self.wrong(f"the origin saw what the conversation does not mention: {rest}; "
                             "`origin sees METHOD /path` says that it may")

    def do_origin_sees(self, sentence):
        """`origin sees METHOD TARGET [N times]`, `origin sees nothing`, `origin sees anything`."""
        words = sentence.words
        if words == ["nothing"]:
            self.all_mentioned()
            return
        if words == ["anything"]:
            self.anything = True
            return
        times = 1
        if len(words) == 4 and words[2].isdigit() and words[3] in ("times", "time"):
            times = int(words[2])
        elif len(words) != 2:
            raise self.bad("origin sees METHOD TARGET [N times] | nothing | anything")

        def found(origin):
            return [r for r in origin.requests if id(r) not in self.mentioned and
                    (r.method, r.target) == (words[0], words[1])]
        try:
            self.origin.wait_for(lambda o: len(found(o)) >= times, "it", PATIENCE)
        except AssertionError:
            raise self.wrong(f"expected the origin to see {' '.join(words)}; it saw {self.unmentioned() or 'nothing'}") from None
        for got in found(self.origin)[:times]:
            self.origin.wait_for(lambda o, r=got: r.complete or not sentence.block, "the whole request", PATIENCE)
            self.mentioned.add(id(got))
            Expectation(self, sentence).of_request(got, self.last_connection)
            self.last_connection = got.connection

    # Clients.

    def connect(self, admin=False):
        self.start()
        talker = Talker(Client(self.etagere.admin if admin else self.etagere.address))
        self.everyone.append(talker)
        return talker

    def step(self):
        """Every step takes a millisecond: what happened before is older than what happens next."""
        self.start()
        if not any(t.pending for t in self.everyone):
            self.settle()
            self.all_mentioned()
            self.anything = False
        self.clock.move(1)

    def who(self, sentence, new=False):
        """The talker that a sentence is about. A name keeps its connection; without a name each request has its own."""
        if sentence.who is not None:
            talker = self.talkers.get(sentence.who)
            if talker is None or (new and talker.client.reader.eof):
                if not new:
                    raise self.bad(f"client {sentence.who} has not spoken yet")
                talker = self.talkers[sentence.who] = self.connect(sentence.subject == "admin")
            return talker
        talker = self.unnamed.get(sentence.subject)
        if new:
            if talker and talker.pending:
                raise self.bad("the client still waits for an answer: several clients at once need names (`client A GET /`)")
            if talker:
                talker.client.close()
            talker = self.unnamed[sentence.subject] = self.connect(sentence.subject == "admin")
        if talker is None:
            raise self.bad("nobody has asked yet")
        return talker

    def request_bytes(self, sentence):
        fields, body, chunks, trailers = message(sentence.block, self.value)
        method, target = sentence.words[0], self.value(sentence.words[1]).decode("latin-1")
        version = sentence.words[2] if len(sentence.words) > 2 else "HTTP/1.1"
        data = request(method, target, fields, body, version)
        if ("Transfer-Encoding", "chunked") in fields and (chunks or trailers):
            data += b"".join(map(one_chunk, chunks)) + end_of_chunks(trailers)
        return data

    def do_client_asks(self, sentence):
        self.step()
        talker = self.who(sentence, new=True)
        talker.pending.append(sentence.words[0])
        talker.client.send(self.request_bytes(sentence))
    do_admin_asks = do_client_asks

    def do_clients_asks(self, sentence):
        self.step()
        if any(t.pending for t in self.group):
            raise self.bad("the clients asked before still wait for their answers")
        for talker in self.group:
            talker.client.close()
        self.group = [self.connect() for _ in range(sentence.who or 0)]
        data = self.request_bytes(sentence)
        for talker in self.group:
            talker.pending.append(sentence.words[0])
            talker.client.send(data)

    def do_client_sends(self, sentence):
        """Raw bytes; the first of a client are a step."""
        self.step()
        talker = self.talkers.get(sentence.who) if sentence.who else self.unnamed.get("client")
        if talker is None or talker.client.reader.eof or (sentence.who is None and not talker.pending):
            talker = self.who(sentence, new=True)
        if not talker.pending:
            talker.pending.append("GET")
        for line in sentence.block:
            if line.word == "raw":
                talker.client.send(raw_line(line.text, self.value))
            elif line.word == "close":
                talker.client.close()
            elif line.word == "reset":
                talker.client.reset()
            else:
                raise self.bad("`pause` is for origins; send the rest with another `client sends`")

    def got(self, who, response):
        self.note(f"{who} < {response.status} {response.reason}", response.fields, response.body)

    def do_client_gets(self, sentence):
        talker = self.who(sentence)
        who = f"{sentence.subject} {sentence.who or ''}".strip()
        self.receive(talker, sentence, who)
    do_admin_gets = do_client_gets

    def do_clients_get(self, sentence):
        if sentence.who is not None and sentence.who != len(self.group):
            raise self.bad(f"{len(self.group)} clients have asked, not {sentence.who}")
        for number, talker in enumerate(self.group, 1):
            self.receive(talker, sentence, f"client {number} of {len(self.group)}")

    def receive(self, talker, sentence, who):
        words, expectation = sentence.words, Expectation(self, sentence)
        if not words:
            raise self.bad(f"{sentence.text!r}: gets what? STATUS [cut] | head STATUS | data TEXT | end | cut")
        client = talker.client
        if words[0] == "data":
            wanted = self.value(sentence.text.partition(" data ")[2])
            expectation.equal("data", wanted, talker.head.take(client, len(wanted)) if talker.head else b"")
        elif words[0] in ("end", "cut") and talker.head:
            expectation.of_end(talker.head, client, cut=words[0] == "cut")
            talker.head = None
        elif words[0] == "cut":
            expectation.of_cut(client)
            talker.method()
        elif words[0] == "head" and len(words) == 2:
            got = client.read_head()
            self.got(who, got)
            expectation.status(words[1], got)
            expectation.of_response(got, client)
            talker.method()
            talker.head = expectation.body_to_come(got)
        elif re.fullmatch(r"\d{3}(\|\d{3})*", words[0]) and words[1:] in ([], ["cut"]):
            self.whole(talker, words, expectation, who)
        else:
            raise self.bad(f"unknown words {' '.join(words)!r}; gets STATUS [cut] | head STATUS | data TEXT | end | cut")

    def whole(self, talker, words, expectation, who):
        client = talker.client
        if words[0].startswith("1") and words[0] != "101":
            got = client.read_head()
            self.got(who, got)
            expectation.status(words[0], got)
            expectation.of_response(got, client)
            return
        method = talker.method()
        if words[1:] == ["cut"]:
            got = client.read_final_head()
            self.got(who, got)
            expectation.status(words[0], got)
            expectation.of_end(expectation.body_to_come(got), client, cut=True)
            expectation.of_response(got, client)
            return
        got = client.read(method)
        for interim in got.interim:
            self.got(who, interim)
        self.got(who, got)
        if got.interim:
            raise self.wrong(f"{who}: got {got.interim[0].status} first, which the conversation does not mention")
        expectation.status(words[0], got)
        expectation.of_response(got, client, whole=True)

    def do_client_closes(self, sentence):
        talker = self.who(sentence)
        talker.client.close()
        talker.pending.clear()
        talker.client.reader.eof = True

    def do_client_resets(self, sentence):
        talker = self.who(sentence)
        talker.client.reset()
        talker.pending.clear()
        talker.client.reader.eof = True

    def do_client_stops(self, sentence):
        """`client stops sending`: half of the connection is closed."""
        self.who(sentence).client.finish_sending()

    def do_client_is(self, sentence):
        """`client is closed`: étagère has closed, and sent nothing that nobody asked for."""
        if sentence.words != ["closed"]:
            raise self.bad("client is closed")
        talker = self.who(sentence)
        talker.pending.clear()
        if not talker.client.closed(PATIENCE):
            raise self.wrong("expected the connection to be closed; it stays open")
