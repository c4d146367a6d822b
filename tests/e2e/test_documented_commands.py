"""Every command of fathom, fathomd and fathom-agent that a document names is one of that program's, with its options."""
import functools
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess

import pytest

from network import BIN

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Not in a path, but for one of programs, nor in names such as fathom-probe, and not the role of the database.
NAMED = re.compile(r"(?:(?<![\w/.-])|(?<=/bin/))(?<!-U )(?<!-U fathom )(fathom-agent|fathomd|fathom) +(?=[^\s`])")
TICKED = re.compile(r"`([^`]+)`")
# What an agent starts itself with, which no help lists.
INNER = {("fathom-agent", "supervise")}
# A command ends where a shell has it end, and before the program of a job.
ENDS = re.compile(r"^(?:--$|[|&;<>#)]|\$\()")
OPTION = re.compile(r"--[a-z][a-z0-9-]*")


@functools.cache
def programs():
    """The programs and their help, as the reference pages are made from them."""
    path = str(ROOT / "docs" / "generate_reference")
    loader = importlib.machinery.SourceFileLoader("generate_reference", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.Programs(pathlib.Path(BIN))


@functools.cache
def commands():
    """The words of each command, and its help."""
    found = {words: text for program in ("fathom", "fathom-agent") for words, text in programs().commands(program)}
    for words in (("fathomd",), ("fathomd", "backup"), ("fathomd", "restore"), ("fathomd", "move-database")):
        found[words] = programs().help(*words)
    return found


def is_group(words):
    """Whether it does nothing without one of its commands."""
    return words == ("fathom-agent",) or bool(re.search(r"^Usage: .* SUBCOMMAND$", commands()[words], re.MULTILINE))


def fault_of(program, arguments):
    """What is wrong with a command, or None."""
    words = (program,)
    options = {"--help", *OPTION.findall(commands()[words])}
    in_words = True  # until something else than a command's name has come
    for argument in arguments:
        if ENDS.match(argument):
            break
        name = argument.rstrip(".,:;)'\"")
        option = OPTION.match(name)
        if option:
            if option[0] not in options:
                return f"`{' '.join(words)}` has no {option[0]}"
        elif in_words and (*words, name) in commands():
            words = (*words, name)
            options |= set(OPTION.findall(commands()[words]))
        elif in_words and is_group(words) and re.fullmatch(r"[a-z][a-z-]*", name) and (*words, name) not in INNER:
            return f"`{' '.join(words)}` has no {name}"
        else:
            in_words = False
        if argument != name and argument[-1] in ");":
            break
    return None


def pieces(text):
    """(number of its line, text) of all that may be a command: lines of blocks, continued ones as one, and what is in backquotes."""
    parts = re.split(r"^(```.*)$", text, flags=re.MULTILINE)
    number = 1
    is_block = False
    for part in parts:
        if part.startswith("```"):
            is_block = not is_block
        elif is_block:
            joined = re.sub(r" *\\\n *", " ", part)
            yield from ((number, line) for line in joined.split("\n"))
        else:
            yield from ((number + part[:found.start()].count("\n"), " ".join(found[1].split())) for found in TICKED.finditer(part))
        number += part.count("\n")


def faults(text):
    """(number of a line near it, what is wrong) for each command that is none."""
    for number, piece in pieces(text):
        for found in NAMED.finditer(piece):
            arguments = piece[found.end():].split()
            fault = fault_of(found[1], arguments)
            if fault:
                yield number, f"{fault}: {found[1]} {' '.join(arguments)}"


def documents():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    return sorted(listed)


def test_documents_name_no_command_and_no_option_that_is_not_there():
    wrong = [f"{name}:{number}: {fault}" for name in documents() for number, fault in faults((ROOT / name).read_text())]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text, wrong", [
    ("`fathom job list --state running` and `fathom job submit FILE`, in `/etc/fathom x` or `build/release/bin/fathom version`, of fathom jobs", []),
    ("`fathom jobs`", ["`fathom` has no jobs: fathom jobs"]),
    ("`fathom job\nlist --nodes 3`", ["`fathom job list` has no --nodes: fathom job list --nodes 3"]),
    ("```sh\n$ fathom job submit -- ls --color\n```", []),
    ("```sh\n$ ID=$(fathom job submit \\\n    --node 1) && fathomd --color\n```", [
        "`fathom job submit` has no --node: fathom job submit --node 1) && fathomd --color",
        "`fathomd` has no --color: fathomd --color"]),
    ("`sudo fathom-agent enrol --token-file FILE` or `fathom-agent join`", ["`fathom-agent` has no join: fathom-agent join"]),
    ("`fathomd backup FILE`, `fathomd --listen 127.0.0.1:1` and `fathomd --ear`", ["`fathomd` has no --ear: fathomd --ear"]),
])
def test_what_is_not_there_is_found(text, wrong):
    assert [fault for _, fault in faults(text)] == wrong
