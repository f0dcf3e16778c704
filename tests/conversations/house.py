"""What a conversation runs: étagère with its configuration and its clock, and memcached."""

import difflib
import mmap
import os
import pathlib
import re
import tempfile
import time

from harness import Etagere, run_cli
from language import duration
from memcached import FaultProxy, Memcached
from origin import wait_until

LOOK_AGAIN = 0.004                                # more than it takes étagère's timers to notice that time was moved: clock.cpp

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


def sleeping(stat):
    """Whether the thread of /proc/…/stat sleeps; one that has ended does."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] in "SIZX"
    except OSError:
        return True


class House:
    """The part of the player that the sentences `route` … `memcached`, `etagere`, `metric` and `wait` are about."""

    patience = 5.0                                # seconds of real time for what has to happen by itself

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
            wait_until(found, "the log", self.patience)
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
            wait_until(lambda: self.etagere.metric(name, **labels) == wanted, name, self.patience)
        except AssertionError:
            raise self.wrong(f"{name} {labels or ''}: expected {wanted}, is {self.etagere.metric(name, **labels):g}") from None

    def settle(self):
        """Between two steps nothing is left half done: the last answer is counted and published, memcached is written."""
        def quiet():
            found = self.etagere.metrics()
            return not any(value for name, value in found.items()
                           if name.startswith(("etagere_http_requests_in_flight", "etagere_store_pending_writes")))
        try:
            wait_until(quiet, "quiet", self.patience)
        except AssertionError:
            busy = {n: v for n, v in self.etagere.metrics().items() if v and re.search("in_flight|pending_writes", n)}
            raise self.wrong(f"étagère does not come to rest: {busy}") from None

    def asleep(self):
        """Every thread of étagère sleeps: what it was sent it has read, what it could do it has done."""
        tasks, calm, end = f"/proc/{self.etagere.process.pid}/task", 0, time.monotonic() + self.patience
        while calm < 2 and time.monotonic() < end:
            time.sleep(0.0005)
            calm = calm + 1 if all(map(sleeping, pathlib.Path(tasks).glob("*/stat"))) else 0

    # Time, memcached.

    def do_wait(self, sentence):
        milliseconds = duration(sentence.words[0]) if len(sentence.words) == 1 else None
        if milliseconds is None:
            raise self.bad("wait how long? 250ms, 3s, 5m, 2h, 30d")
        if self.etagere is None:
            self.clock.move(milliseconds)
            return
        if not any(t.waits() for t in self.everyone):
            self.settle()
        self.asleep()                             # deadlines are armed before time moves, and
        self.clock.move(milliseconds)
        time.sleep(LOOK_AGAIN)                    # those that are due have run before it is somebody's turn
        self.asleep()

    def do_memcached(self, sentence):
        if self.etagere or self.memcached:
            raise self.bad("`memcached` stands once, before the first client speaks")
        self.memcached = Memcached(*sentence.words)
        self.proxy = FaultProxy(self.memcached)

    def need_memcached(self):
        if not self.memcached:
            raise self.bad("there is no memcached: say `memcached` at the beginning")
        if self.etagere and not any(t.waits() for t in self.everyone):
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
