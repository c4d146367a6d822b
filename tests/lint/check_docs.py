#!/usr/bin/env python3
"""Documents name what is there: every path of the repository in backticks, and every link to a file, exists; and each large folder
has one."""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICKED = re.compile(r"`([^`\n]+)`")
LINKED = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
PATH = re.compile(r"[A-Za-z0-9_.{},<>*/-]+")
# Folders with so many files need a README.md; data and seeds do not.
MANY = 10
NOT_READ = ("tests/fuzz/corpus/", "tests/data/", "schema/link/golden/", "docs/")
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


def own_documents(root):
    """All of the tree, without what others wrote or programs made."""
    for top in sorted(root.iterdir()):
        if top.suffix == ".md":
            yield top
        elif top.is_dir() and not top.name.startswith(".") and top.name != "build":
            yield from (path for path in sorted(top.rglob("*.md")) if "node_modules" not in path.parts)


def unexplained(root, paths):
    """Folders with more than MANY files of which none is a README.md; of features of the console one speaks for all."""
    counts = collections.Counter(str(pathlib.PurePath(path).parent) for path in paths
                                 if not path.startswith(NOT_READ) and not path.startswith("web/src/features/"))
    return [f"{folder}: {count} files and no README.md; say what is in here, what may be used and what not"
            for folder, count in sorted(counts.items()) if count > MANY and not (root / folder / "README.md").exists()]


def main():
    documents = list(own_documents(ROOT))
    faults = [f"{document.relative_to(ROOT)}:{number}: there is no {path}"
              for document in documents for number, path in wrong_paths(ROOT, document)]
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    faults += unexplained(ROOT, tracked)
    print("\n".join(faults) or f"{len(documents)} documents name what is there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
