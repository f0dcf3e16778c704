#!/usr/bin/env python3
"""Layering: a room includes only rooms it may use, and the pure core stays pure.

usage: layering.py ROOT         check the tree; prints what breaks and exits 1
       layering.py --self-test  check the checker with lines that have to be refused
"""
import pathlib
import posixpath
import re
import sys

# The rooms in the order of the arrows; each may use what is listed, and itself.
MAY_USE = {
    "base": "",
    "http": "base",
    "cache": "base http",
    "settings": "base",
    "routing": "base http cache settings",
    "crypto": "base",
    "coding": "base http",
    "observe": "base http",
    "store": "base http cache crypto observe",
    "net": "base http",
    "upstream": "base http net observe",
    "exchange": "base http cache settings routing crypto coding observe store net upstream",
    "admin": "base http cache settings routing crypto coding observe store net upstream exchange",
    "app": "base http cache settings routing crypto coding observe store net upstream exchange admin",
}
MAY_USE = {room: {room, *used.split()} for room, used in MAY_USE.items()}

# Bytes and decisions only: what is here takes its time, its bytes and its settings as arguments.
PURE_ROOMS = {"base", "http", "cache", "settings", "routing"}
PURE_FILES = re.compile(r"^store/record")
BEAST_ALLOWED = re.compile(r"^http/h1/")  # sources only; Beast's buffers are Asio's (boost/asio/buffer.hpp)
IMPURE_INCLUDES = re.compile(
    r"^(boost/(asio|beast)[/.]|openssl/|libmemcached|yaml-cpp/|spdlog/|zlib\.h$|brotli/|zstd\.h$|thread$|mutex$|shared_mutex$|atomic$|"
    r"condition_variable$|fstream$|iostream$|sys/|unistd\.h$|netinet/|pthread\.h$)")
BEAST_INCLUDES = re.compile(r"^boost/(beast/(http|core)/|asio/buffer\.hpp$)")
IMPURE_WORDS = re.compile(
    r"\b(?:system|steady|high_resolution|utc|file)_clock\s*::\s*now\s*\(|\b(?:secure_)?getenv\s*\(|\b(?:thread_local)\b|"
    r"\b(?:clock_gettime|gettimeofday|time)\s*\(\s*(?:nullptr|NULL|0|CLOCK_)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
COMMENT = re.compile(r"//.*")


def room_of(path):
    """The room of an included project header, or None."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "etagere" else None


def check_line(where, is_header, line):
    """What is wrong with one line of the file `where` (its path inside src/ or include/etagere/), or None."""
    room = where.split("/")[0]
    pure = room in PURE_ROOMS or PURE_FILES.match(where)
    found = INCLUDE.match(line)
    if not found:
        word = IMPURE_WORDS.search(COMMENT.sub("", line)) if pure else None
        return f"the pure core must not say {word.group(0).strip()!r}" if word else None
    included = found.group(1)
    other = room_of(included)
    if included.startswith("etagere/") and other not in MAY_USE:
        return f"includes {included}, which is in no room"
    if other and other not in MAY_USE[room]:
        return f"room {room} must not use room {other}: {included}"
    if included.startswith(".") and posixpath.normpath(posixpath.join(posixpath.dirname(where), included)).split("/")[0] != room:
        return f"includes {included}: other rooms are reached by their headers in include/"
    if pure and IMPURE_INCLUDES.match(included):
        beast = not is_header and BEAST_ALLOWED.match(where) and BEAST_INCLUDES.match(included)
        if not beast:
            return f"the pure core must not include {included}"
    return None


def check_tree(root):
    problems = []
    files = 0
    for base in (root / "include" / "etagere", root / "src"):
        for path in sorted(base.rglob("*")):
            where = path.relative_to(base).as_posix()
            if path.suffix not in (".hpp", ".cpp", ".ipp", ".h") or where.split("/")[0] in ("cmake", "docs"):
                continue
            if where.split("/")[0] not in MAY_USE:
                problems.append(f"{path.relative_to(root)}: in no room of the table")
                continue
            files += 1
            is_header = base.name == "etagere"
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                problem = check_line(where, is_header, line)
                if problem:
                    problems.append(f"{path.relative_to(root)}:{number}: {problem}")
    if files == 0:
        problems.append(f"{root}: no sources found")
    return problems


def self_test():
    refused = [
        ("http/fields.cpp", False, '#include "etagere/cache/key.hpp"'),
        ("base/result.hpp", True, '#include "etagere/http/fields.hpp"'),
        ("cache/reuse.cpp", False, '#include "etagere/settings/settings.hpp"'),
        ("net/worker.cpp", False, '#include "etagere/exchange/exchange.hpp"'),
        ("http/fields.cpp", False, '#include "etagere/nowhere/x.hpp"'),
        ("http/fields.cpp", False, '#include "../base/x.hpp"'),
        ("http/h1/body.cpp", False, '#include "../../base/x.hpp"'),
        ("cache/reuse.cpp", False, "#include <boost/asio.hpp>"),
        ("cache/reuse.cpp", False, "#include <boost/asio/buffer.hpp>"),
        ("cache/reuse.cpp", False, "  #  include <boost/beast/http.hpp>"),
        ("http/h1/parser.hpp", True, "#include <boost/beast/http/basic_parser.hpp>"),
        ("http/h1/parser.cpp", False, "#include <boost/asio/ip/tcp.hpp>"),
        ("settings/load.cpp", False, "#include <yaml-cpp/yaml.h>"),
        ("routing/table.cpp", False, "#include <mutex>"),
        ("base/bytes.cpp", False, "#include <openssl/sha.h>"),
        ("store/record.cpp", False, "#include <atomic>"),
        ("store/record/entity.cpp", False, "#include <libmemcached/memcached.h>"),
        ("base/time.cpp", False, "auto now = std::chrono::system_clock::now();"),
        ("cache/age.cpp", False, "return steady_clock :: now ();"),
        ("settings/env.cpp", False, 'auto* v = std::getenv("HOME");'),
        ("cache/age.cpp", False, "const auto t = std::time(nullptr);"),
    ]
    accepted = [
        ("http/fields.cpp", False, '#include "etagere/base/result.hpp"'),
        ("http/h1/parser.cpp", False, "#include <boost/beast/http/basic_parser.hpp>"),
        ("http/h1/parser.cpp", False, "#include <boost/asio/buffer.hpp>"),
        ("http/h1/parser.cpp", False, '#include "raw_head.hpp"'),
        ("http/h1/parser.cpp", False, '#include "../octets.hpp"'),
        ("base/result.hpp", True, "#include <boost/system/error_code.hpp>"),
        ("net/worker.cpp", False, "#include <boost/asio/io_context.hpp>"),
        ("net/worker.cpp", False, "auto now = std::chrono::steady_clock::now();"),
        ("store/memory/memory_store.cpp", False, "#include <mutex>"),
        ("base/time.hpp", True, "using steady_time = std::chrono::steady_clock::time_point;"),
        ("cache/age.cpp", False, "// never std::chrono::system_clock::now(): the caller passes it"),
        ("app/main.cpp", False, '#include "etagere/exchange/exchange.hpp"'),
    ]
    wrong = [f"not refused: {case}" for case in refused if check_line(*case) is None]
    wrong += [f"refused: {case}: {check_line(*case)}" for case in accepted if check_line(*case) is not None]
    order = list(MAY_USE)
    wrong += [f"{room} may use {used}, which comes after it" for room in order for used in MAY_USE[room]
              if order.index(used) > order.index(room)]
    return wrong


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    problems = self_test()
    if arguments[0] != "--self-test":
        problems += check_tree(pathlib.Path(arguments[0]))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
