"""What can stand in a value: {now}, {now-1h}, {10 bytes}, {3 times ab}, {gzip text}, {request Name}, {method},
{target}, {body}, and {word} for what `keep … as word` kept. Anything else in braces is text. Escapes: \\r \\n \\t \\\\ \\xHH."""

import gzip
import re
import time

from language import duration

PLACE = re.compile(r"\{(now(?:[+-]\w+)?|\d+ bytes|\d+ times [^}]*|gzip [^}]*|request [A-Za-z][\w-]*|[a-z_]+)\}")
ESCAPE = re.compile(rb"\\(?:r|n|t|\\|x[0-9A-Fa-f]{2})")
PLAIN = {b"\\r": b"\r", b"\\n": b"\n", b"\\t": b"\t", b"\\\\": b"\\"}


def http_date(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(seconds))


def many_bytes(count):
    """Bytes that a shift or a missing piece would change."""
    block = b"".join(b"%07d\n" % number for number in range(count // 8 + 1))
    return block[:count]


def unescape(data):
    return ESCAPE.sub(lambda m: PLAIN.get(m[0]) or bytes([int(m[0][2:], 16)]), data)


def expand(text, now, kept, request=None):
    """`text` as bytes. `now` in seconds; `request` is what the origin is answering."""
    out, at = [], 0
    for match in PLACE.finditer(text):
        out.append(unescape(text[at:match.start()].encode()))
        out.append(place(match[1], match[0], now, kept, request))
        at = match.end()
    return b"".join(out) + unescape(text[at:].encode())


def place(inside, whole, now, kept, request):
    word, _, rest = inside.partition(" ")
    if word.startswith("now"):
        away = duration(inside[4:]) if inside != "now" else 0
        if away is None:
            return whole.encode()
        return http_date(now + (-away if inside[3:4] == "-" else away) / 1000).encode()
    if inside in kept:
        return kept[inside]
    if rest == "bytes":
        return many_bytes(int(word))
    if rest.startswith("times "):
        return unescape(rest[6:].encode()) * int(word)
    if word == "gzip":
        return gzip.compress(unescape(rest.encode()), mtime=0)
    if request is not None:
        if word == "request":
            return (request[rest] or "").encode("latin-1")
        if inside in ("method", "target", "path"):
            return getattr(request, inside).encode("latin-1")
        if inside == "body":
            return request.body
    return whole.encode()


def text_of(data):
    """As field values are read from the wire."""
    return data.decode("latin-1")
