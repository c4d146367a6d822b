#!/usr/bin/env python3
"""Documents name what is there: every path of the repository in backticks, and every link to a file, exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICKED = re.compile(r"`([^`\n]+)`")
LINKED = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
PATH = re.compile(r"[A-Za-z0-9_.{},<>*/-]+")
SUFFIXES = (".cpp", ".hpp", ".cu", ".py", "")


def alternatives(text):
    """`a/{b,c}/d` as shells read it."""
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        return [text]
    return [one for part in found[1].split(",") for one in alternatives(text[:found.start()] + part + text[found.end():])]


def is_there(root, path):
    """As it stands, or a source named without its ending; `*` and `NAME` stand for anything."""
    pattern = re.sub(r"<\w+>|\bNAME\b|NNNN\w*", "*", path).rstrip("/")
    return any(next(root.glob(pattern + suffix), None) is not None for suffix in SUFFIXES)


def wrong_paths(root, document):
    text = document.read_text()
    top = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")}
    wrong = []
    for number, line in enumerate(text.splitlines(), 1):
        for ticked in TICKED.findall(line):
            for path in PATH.findall(ticked.split(" ")[0]):
                if "/" not in path or path.split("/")[0] not in top or path.startswith("build/"):
                    continue
                wrong += [(number, one) for one in alternatives(path) if not is_there(root, one)]
        for link in LINKED.findall(line):
            if "://" not in link and not (document.parent / link).exists():
                wrong.append((number, link))
    return wrong


def main():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "agent" / "README.md"]
    faults = [f"{document.relative_to(ROOT)}:{number}: there is no {path}"
              for document in sorted(documents) for number, path in wrong_paths(ROOT, document)]
    print("\n".join(faults) or f"{len(documents)} documents name what is there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
