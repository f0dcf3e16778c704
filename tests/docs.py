#!/usr/bin/env python3
"""The table of clauses (src/docs/conformance.md) names functions and tests: they have to exist.

usage: docs.py ROOT         check the tree; prints what is not there and exits 1
       docs.py --self-test  check the checker with rows that have to be refused
"""
import pathlib
import re
import sys

NAME = re.compile(r"`([A-Za-z_][A-Za-z0-9_:]*)`")


def code_words(root):
    """Every identifier of src/ and include/, and the names of their files."""
    words = set()
    for top in ("src", "include"):
        for path in (root / top).rglob("*.[ch]pp"):
            words.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", path.read_text(encoding="utf-8")))
            words.add(path.stem)
    return words


def test_words(paths):
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


class Tree:
    def __init__(self, root):
        tests = root / "tests"
        self.code = code_words(root)
        self.unit = test_words((tests / "unit").glob("*/*.cpp"))
        self.system = test_words((tests / "system").glob("test_*.py"))
        self.fuzz = {path.stem for path in (tests / "fuzz").glob("*.cpp")}
        self.conversations = {path.stem for path in (tests / "conversations").glob("*.conv")}


def check_names(texts, stem, names, what):
    if stem not in texts:
        return [f"no {what} {stem}"]
    return [f"{stem} has no {name}" for name in names
            if not re.search(r"\b" + re.escape(name).replace(r"\*", r"\w*") + r"\b", texts[stem])]


def check_reference(tree, text):
    """One of `u FILE: Name, Name`, `s FILE: Name`, `c NAME, NAME-\\*`, `fuzz NAME`."""
    kind, _, rest = text.partition(" ")
    rest = rest.replace("\\*", "*")
    if kind == "c":
        wanted = [name.strip() for name in rest.split(",")]
        return [f"no conversation {name}" for name in wanted
                if not any(pathlib.PurePath(c).match(name) for c in tree.conversations)]
    if kind == "fuzz":
        return [] if rest in tree.fuzz else [f"no fuzzer {rest}"]
    if kind not in ("u", "s"):
        return [f"what is {text!r}?"]
    texts, prefix = (tree.unit, "") if kind == "u" else (tree.system, "test_")
    problems, stems, names = [], [], []
    for part in rest.split(","):
        file, colon, name = part.strip().rpartition(":")
        if colon:
            stems.append(file.strip())
            problems += check_names(texts, prefix + stems[-1], [name.strip()], "test file")
        elif stems:
            problems += check_names(texts, prefix + stems[-1], [name.strip()], "test file")
        else:
            names.append(name.strip())
    for stem in names:
        problems += check_names(texts, prefix + stem, [], "test file")
    return problems


def check_row(tree, row):
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    carried, held = cells[-2], cells[-1]
    problems = [f"no function {name}" for name in NAME.findall(carried) if name.split("::")[-1] not in tree.code]
    if carried != "–" and not NAME.search(carried):
        problems.append(f"no function named in {carried!r}")
    for reference in held.split(";"):
        problems += check_reference(tree, reference.strip())
    return [f"{cells[0]}: {problem}" for problem in problems]


def rows(text):
    section = text.split("## RFC 9111", 1)[1]
    return [line for line in section.splitlines() if line.startswith("| ") and not line.startswith(("| clause", "| standard"))]


def self_test(root):
    tree = Tree(root)
    good = "| §0 | x | `decide_reuse` | u reuse_test: Reuse; s freshness: test_max_stale; c b061-\\*; fuzz range |"
    assert check_row(tree, good) == [], check_row(tree, good)
    for bad in ("| §0 | x | `no_such_function` | fuzz range |", "| §0 | x | nothing | fuzz range |",
                "| §0 | x | `decide_reuse` | u no_such_test |", "| §0 | x | `decide_reuse` | u reuse_test: NoSuchSuite |",
                "| §0 | x | `decide_reuse` | s freshness: test_nothing |", "| §0 | x | `decide_reuse` | c b000-\\* |",
                "| §0 | x | `decide_reuse` | fuzz nothing |", "| §0 | x | `decide_reuse` | @TESTS@ |"):
        assert check_row(tree, bad), bad


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    if sys.argv[1:] == ["--self-test"]:
        self_test(root)
        return 0
    self_test(root)
    tree = Tree(root)
    table = rows((root / "src/docs/conformance.md").read_text(encoding="utf-8"))
    problems = [problem for row in table for problem in check_row(tree, row)]
    for problem in problems:
        print(f"src/docs/conformance.md: {problem}")
    print(f"{len(table)} rows, {len(problems)} problems")
    return 1 if problems or len(table) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
