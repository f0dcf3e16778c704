"""Reads a conversation file into sentences. What the words mean is in README.md; what they do is in play.py.

A sentence starts in the first column; the lines of its block are indented. Words of the language are in lower case and
field names begin with a capital, so that a misspelt word can be told from a field and is refused with "did you mean".
"""

import difflib
import re

NAME = re.compile(r"[A-Z][A-Za-z0-9!#$%&'*+.^_`|~-]*\Z")
FIELD = re.compile(r"([A-Z][A-Za-z0-9!#$%&'*+.^_`|~-]*)(:| ~)(?:\s+(.*))?\Z")
UNITS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
DURATION = re.compile(r"(\d+)(ms|s|min|m|h|d)\Z")


class BadConversation(Exception):
    """The file does not say what to do; `str()` begins with file:line."""


class Line:
    """One line of a block: `word` (lower case, or 'field', or 'raw'), `name` (of a field), `match` (':' or '~'), `text`."""

    def __init__(self, number, word, text="", name=None, match=":"):
        self.number, self.word, self.text, self.name, self.match = number, word, text, name, match


class Sentence:
    """`subject` and `verb` say what to do, `words` are what stands behind them, `block` is a list of Line or of text."""

    def __init__(self, number, subject, verb, words, text):
        self.number, self.subject, self.verb, self.words, self.text = number, subject, verb, words, text
        self.who, self.block = None, []


# What may stand in a block. True: `word: text`; False: the word alone; "rest": the word and what follows it.
MESSAGE = {"body:": True, "chunk:": True, "trailer": "rest"}
BLOCKS = {
    "request": MESSAGE,
    "answer": {**MESSAGE, "interim": "rest", "head": False, "pause": False, "last chunk": False, "close": False,
               "reset": False, "no": "rest"},
    "expect": {"body:": True, "body ~": True, "decoded body:": True, "no": "rest", "cache:": True, "trailer": "rest",
               "keep": "rest", "connection closes": False, "connection stays": False,
               "on a new connection": False, "on the same connection": False},
    "raw": {"close": False, "reset": False, "pause": False},
    "yaml": None,
    "texts": None,
    "none": {},
}

# Subject and verb, and the kind of its block.
SENTENCES = {
    "config": {"": "yaml"}, "route": {"": "yaml"}, "upstream": {"": "yaml"}, "store": {"": "yaml"},
    "listener": {"": "yaml"}, "settings": {"": "yaml"},
    "memcached": {"": "none", "dies": "none", "returns": "none", "forgets": "none", "fault": "none"},
    "etagere": {"starts": "none", "restarts": "none", "reloads": "none", "refuses": "texts", "accepts": "texts",
                "holds": "none", "logs": "texts"},
    "metric": {"": "none"},
    "wait": {"": "none"},
    "origin": {"answers": "answer", "sees": "expect", "goes": "none", "closes": "none", "leaves": "none",
               "returns": "none"},
    "client": {"sends": "raw", "gets": "expect", "closes": "none", "resets": "none", "stops": "none", "is": "none"},
    "clients": {"get": "expect"},
    "admin": {"gets": "expect"},
}
METHOD = re.compile(r"[A-Z][A-Z-]*\Z")


def did_you_mean(word, known):
    near = difflib.get_close_matches(word.lower(), [k for k in known if k], 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known here: {', '.join(sorted(k for k in known if k))}"


def duration(text):
    """Milliseconds of `3s`, `250ms`, `1h`, or None."""
    match = DURATION.match(text)
    return int(match[1]) * UNITS[match[2]] if match else None


def read(path, text):
    """The sentences of a file, each checked as far as its words go."""
    return Reading(path).sentences(text)


class Reading:
    def __init__(self, path):
        self.path = path

    def fail(self, number, what):
        raise BadConversation(f"{self.path}:{number}: {what}")

    def sentences(self, text):
        found = []
        for number, line in enumerate(text.split("\n"), 1):
            if "\t" in line[:len(line) - len(line.lstrip())]:
                self.fail(number, "a tab; indent with spaces")
            if line.strip() == "" or line.lstrip().startswith("#"):
                continue
            if not line.startswith(" "):
                found.append(self.sentence(number, line.rstrip()))
            elif not found:
                self.fail(number, "a block without a sentence before it")
            else:
                found[-1].block.append((number, line.rstrip()))
        for sentence in found:
            self.block(sentence)
        if not found:
            self.fail(1, "says nothing")
        return found

    def sentence(self, number, line):
        words = line.split()
        if len(words) > 1 and words[0].isdigit() and words[1] == "clients":
            return self.speaker(Sentence(number, "clients", None, words[2:], line), int(words[0]))
        subject = words[0]
        if subject not in SENTENCES:
            self.fail(number, f"unknown word {subject!r}{did_you_mean(subject, SENTENCES)}")
        if subject in ("client", "clients", "admin"):
            return self.speaker(Sentence(number, subject, None, words[1:], line), None)
        verbs = SENTENCES[subject]
        verb = words[1] if len(words) > 1 else ""
        if verb in verbs and verb:
            return Sentence(number, subject, verb, words[2:], line)
        if "" not in verbs:
            self.fail(number, f"unknown word {verb!r} after {subject!r}{did_you_mean(verb, verbs)}" if verb
                      else f"{subject!r} what?{did_you_mean('', verbs)}")
        if subject == "memcached" and verb and not verb.startswith("-"):
            self.fail(number, f"unknown word {verb!r} after 'memcached'{did_you_mean(verb, verbs)}")
        return Sentence(number, subject, "", words[1:], line)

    def speaker(self, sentence, who):
        """`client [NAME] METHOD TARGET`, `client [NAME] VERB …`, `20 clients METHOD TARGET`, `20 clients get …`."""
        words, verbs = sentence.words, SENTENCES[sentence.subject]
        plain = bool(words) and (words[0] in verbs or METHOD.match(words[0]) and len(words) > 1 and
                                 re.match(r"[/*]|https?:|\S+:\d+\Z", words[1]))
        if words and not plain and who is None and NAME.match(words[0]):
            who, words = words[0], words[1:]
        if not words:
            self.fail(sentence.number, f"{sentence.text!r}: does what?{did_you_mean('', verbs)}")
        if words[0] in verbs:
            sentence.verb = words[0]
        elif METHOD.match(words[0]):
            sentence.verb = "asks"
            if not 2 <= len(words) <= 3:
                self.fail(sentence.number, f"{sentence.subject} METHOD TARGET [HTTP/1.0]")
        else:
            self.fail(sentence.number, f"unknown word {words[0]!r} after {sentence.subject!r}"
                      f"{did_you_mean(words[0], verbs)}")
        sentence.who = who
        sentence.words = words if sentence.verb == "asks" else words[1:]
        return sentence

    def block(self, sentence):
        kind = "request" if sentence.verb == "asks" else SENTENCES[sentence.subject][sentence.verb]
        if kind == "answer" and "raw" in sentence.words:
            kind = "raw"
        if kind in ("yaml", "texts"):
            depth = min((len(text) - len(text.lstrip()) for _, text in sentence.block), default=0)
            sentence.block = [text[depth:] for _, text in sentence.block]
        else:
            sentence.block = [self.line(number, text.strip(), kind) for number, text in sentence.block]

    def line(self, number, text, kind):
        known = BLOCKS[kind]
        if not known:
            self.fail(number, "this sentence has no block")
        if kind == "raw" and text.startswith(">"):
            return Line(number, "raw", text[2:] if text.startswith("> ") else text[1:])
        for word, form in known.items():
            if form is False and text == word:
                return Line(number, word)
            if form is True and (text == word or text.startswith(word + " ")):
                return Line(number, word.rstrip(":~ "), text[len(word) + 1:], match=word[-1])
            if form == "rest" and text.startswith(word + " "):
                return self.with_rest(Line(number, word, text[len(word) + 1:].strip()), kind)
        field = FIELD.match(text)
        if field and kind != "raw" and (field[2] == ":" or kind == "expect"):
            return Line(number, "field", field[3] or "", field[1], field[2].strip())
        first = text.split()[0]
        if FIELD.match(text) or NAME.match(first):
            self.fail(number, f"{text!r}: a field line is `Name: value`" + (" or `Name ~ pattern`" if kind == "expect" else "")
                      if kind != "raw" else f"{text!r}: a line of raw bytes begins with `> `")
        hint = "; field names begin with a capital" if first.endswith(":") and kind != "raw" else ""
        self.fail(number, f"unknown word {first!r}{did_you_mean(first, known)}{hint}")
        return None

    def with_rest(self, line, kind):
        """The words that take something behind them."""
        if line.word == "trailer" or line.word == "interim":
            status, text = (line.text.split(maxsplit=1) + [""])[:2] if line.word == "interim" else ("", line.text)
            if line.word == "interim" and not re.fullmatch(r"1\d\d", status):
                self.fail(line.number, "interim STATUS [Name: value]")
            field = FIELD.match(text)
            if not field and (line.word == "trailer" or text):
                self.fail(line.number, f"{text!r}: a field line is `Name: value`")
            line.status = int(status or 0)
            line.name, line.text = (field[1], field[3] or "") if field else (None, "")
        elif line.word == "no":
            wanted = {"body", "trailers"} if kind == "expect" else {"Content-Length"}
            if line.text not in wanted and not (kind == "expect" and NAME.match(line.text)):
                self.fail(line.number, f"no what? {line.text!r}{did_you_mean(line.text, wanted)}")
        elif line.word == "keep":
            found = re.fullmatch(r"(\S+) as ([a-z_]+)", line.text)
            if not found:
                self.fail(line.number, "keep NAME as word")
            line.name, line.text = found[1], found[2]
        return line
