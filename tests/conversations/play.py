"""Plays one conversation: a real étagère whose clock the conversation moves, a scripted origin, clients that are strict."""

import re
import threading

from expect import Expectation, Mismatch
from house import Clock, Failed, House
from language import BadConversation, read
from origin import Origin
from script import Rule, Script, end_of_chunks, message, one_chunk, raw_line
from values import expand
from wire import Client, WireError, request


class Talker:
    """A client with a connection: what it asked and has not yet got an answer to, in order."""

    def __init__(self, client):
        self.client, self.pending, self.head = client, [], None

    def waits(self):
        return bool(self.pending or self.head)

    def forget(self):
        self.pending.clear()
        self.head, self.client.reader.eof = None, True

    def method(self):
        return self.pending.pop(0) if self.pending else "GET"


class Player(House):
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
        waiting = [t for t in self.everyone if t.waits()]
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

    # The origin.

    def do_origin_answers(self, sentence):
        self.script.add(Rule(self.path, sentence))

    def do_origin_goes(self, sentence):
        if sentence.words != ["on"]:
            raise self.bad("origin goes on")
        if not self.script.go_on(self.patience):
            raise self.wrong("the origin has reached no `pause`")

    def do_origin_closes(self, sentence):
        """Every connection that étagère keeps."""
        self.settle()
        self.origin.close_connections()
        self.origin.wait_for(lambda o: not o.sockets, "the origin's connections to be closed", self.patience)

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
            self.start()
            self.asleep()
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
            self.origin.wait_for(lambda o: len(found(o)) >= times, "it", self.patience)
        except AssertionError:
            raise self.wrong(f"expected the origin to see {' '.join(words)}; it saw {self.unmentioned() or 'nothing'}") from None
        for got in found(self.origin)[:times]:
            self.origin.wait_for(lambda o, r=got: r.complete or not sentence.block, "the whole request", self.patience)
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
        if not any(t.waits() for t in self.everyone):
            self.settle()
            self.all_mentioned()
            self.anything = False
        self.asleep()
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
        if sentence.subject == "admin" and "Host" not in dict(fields):
            fields.insert(0, ("Host", "localhost"))    # what it lets post without a token
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
        talker.forget()

    def do_client_resets(self, sentence):
        talker = self.who(sentence)
        talker.client.reset()
        talker.forget()

    def do_client_stops(self, sentence):
        """`client stops sending`: half of the connection is closed."""
        self.who(sentence).client.finish_sending()

    def do_client_is(self, sentence):
        """`client is closed`: étagère has closed, and sent nothing that nobody asked for."""
        if sentence.words != ["closed"]:
            raise self.bad("client is closed")
        talker = self.who(sentence)
        talker.pending.clear()
        if not talker.client.closed(self.patience):
            raise self.wrong("expected the connection to be closed; it stays open")
