#!/usr/bin/env python3
"""Flags log lines that work in a database transaction writes at once: it may run again, or be rolled back, so what it did is
logged by log_after_commit() (server/store/log_after_commit.hpp)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# (path, event) -> why it is true all the same, whatever becomes of the transaction
TRUE_ALL_THE_SAME = {
    ("server/catalog/catalog_prices.cpp", "price_book_unreadable"): "of a row that is there",
    ("server/catalog/catalog_store.cpp", "manifest_unreadable"): "of a row that is there",
    ("server/job_types/learning_store.cpp", "job_unreadable"): "of a row that is there",
    ("server/identity/admin_token.cpp", "admin_token_elsewhere"): "of rows that are there",
    ("server/identity/admin_token.cpp", "admin_token_unknown"): "of rows that are there",
    ("server/retention/retention_task.cpp", "not_removed"): "it failed",
    ("server/store/savepoint.hpp", "event"): "a part failed",
}
COMMENT = re.compile(r"//[^\n]*")
# The head of a function or lambda that works in a transaction, up to its body.
HEAD = re.compile(r"\((?:[^()]|\([^()]*\))*pqxx::(?:work|transaction_base)&(?:[^()]|\([^()]*\))*\)[^;{}]*\{")
LINE = re.compile(r'\blog_(?:info|warning|error)\(\s*"?(\w+)')
LATER = re.compile(r"\bafter_commit\(")


def end_of(text, begin, pair):
    """Where the bracket that opens before `begin` is closed."""
    depth = 1
    at = begin
    while depth > 0 and at < len(text):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        at += 1
    return at


def without_later(body):
    """The body without what it leaves to be done after the commit."""
    found = LATER.search(body)
    while found:
        body = body[:found.start()] + body[end_of(body, found.end(), "()"):]
        found = LATER.search(body)
    return body


def events(text):
    """The events that work in a transaction logs at once, each once."""
    text = COMMENT.sub("", text)
    found = {}
    for head in HEAD.finditer(text):
        body = text[head.end():end_of(text, head.end(), "{}")]
        found.update(dict.fromkeys(LINE.findall(without_later(body))))
    return list(found)


def main():
    found = {(str(path.relative_to(ROOT)), event) for path in sorted((ROOT / "server").rglob("*.[ch]pp"))
             for event in events(path.read_text())}
    problems = [f"{path}: {event} is logged before the commit: use log_after_commit()"
                for path, event in sorted(found - TRUE_ALL_THE_SAME.keys())]
    problems += [f"{path}: {event} is excused here, but not there" for path, event in sorted(TRUE_ALL_THE_SAME.keys() - found)]
    print("\n".join(problems) or "log lines: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
