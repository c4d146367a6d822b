"""Holds answers of the server to schema/openapi.yaml."""
import functools
import pathlib
import re

import yaml
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import RefResolver

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "schema" / "openapi.yaml"
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


# Operations that a request may change something by, and that leave nothing in the audit log: why.
NOT_AUDITED = {
    "submitJobs": "the job is the record: who submitted it stands in it, and when in its first event; a hundred a second are submitted",
    "previewPlacement": "changes nothing: what would be decided on a job",
    "simulateChange": "changes nothing: what would be after a change of the network",
    "tryPriceBook": "changes nothing: what bills would be by a book",
    "tryMetricPolicy": "changes nothing: what scores would be by a policy",
    "predictSpeedup": "changes nothing: a calculation",
    "drawSpeedup": "changes nothing: a calculation",
}
# Operations whose changes are recorded, and that the tests of all operations do not bring to a change: where it is seen.
AUDITED_ELSEWHERE = {
    "releaseCenter": "tests/e2e/test_self_correction.py",
    "dismissProbeFinding": "tests/server/probing/findings/findings_test.cpp",
}


class ContractBroken(AssertionError):
    """An answer that the document does not allow."""


@functools.lru_cache(maxsize=None)
def document():
    with open(DOCUMENT, encoding="utf-8") as file:
        return yaml.safe_load(file)


def resolve(node):
    """Follows a `$ref` within the document; anything else is returned as it is."""
    while isinstance(node, dict) and "$ref" in node:
        reference = node["$ref"]
        if not reference.startswith("#/"):
            raise ContractBroken(f"a reference out of the document: {reference}")
        target = document()
        for part in reference[2:].split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def operations():
    """Every (path pattern, method, operation)."""
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def changing_operations():
    """Those of methods by which something may change."""
    return [operation for _, method, operation in operations() if method in ("post", "put", "patch", "delete")]


def _pattern(path):
    """A regular expression for a path pattern, in which {id} is one segment."""
    parts = re.split(r"\{[^}]+\}", path)
    return re.compile("^" + "[^/]+".join(re.escape(part) for part in parts) + "$")


def _literal_length(path):
    return len(re.sub(r"\{[^}]+\}", "", path))


def find_operation(method, path):
    """The pattern and operation that answer a request; the most literal pattern wins. None when there is none."""
    path = path.split("?")[0].replace("%3A", ":").replace("%3a", ":")
    found = [(pattern, operation) for pattern, operation_method, operation in operations()
             if operation_method == method.lower() and _pattern(pattern).match(path)]
    return max(found, key=lambda entry: _literal_length(entry[0]), default=None)


def schema_errors(schema, value):
    """What in a value breaks a schema of the document, as lines of text."""
    # The schema is wrapped beside the components, so that its references resolve.
    root = {"components": document()["components"], "allOf": [schema]}
    resolver = RefResolver.from_schema(root)
    validator = Draft202012Validator(root, resolver=resolver, format_checker=FormatChecker())
    lines = []
    for error in sorted(validator.iter_errors(value), key=lambda e: list(map(str, e.absolute_path))):
        deepest = error
        while deepest.context:
            deepest = max(deepest.context, key=lambda e: len(e.absolute_path))
        where = "/".join(map(str, deepest.absolute_path)) or "(root)"
        lines.append(f"{where}: {deepest.message}")
    return lines


def check_response(method, path, status, content_type, body):
    """Raises ContractBroken unless the document allows this answer.

    `body` is the parsed JSON, or the text of any other content type; None for an empty body."""
    found = find_operation(method, path)
    if found is None:
        raise ContractBroken(f"{method} {path} is not in the document")
    pattern, operation = found
    what = f"{method.upper()} {pattern} -> {status}"
    response = operation["responses"].get(str(status))
    if response is None and status >= 400:
        response = operation["responses"].get("default")
    if response is None:
        raise ContractBroken(f"{what}: no such answer in the document")
    response = resolve(response)
    content = response.get("content")
    if not content:
        if body not in (None, "", b""):
            raise ContractBroken(f"{what}: the document says that there is no body")
        return
    media_type = (content_type or "").split(";")[0].strip()
    if media_type not in content:
        raise ContractBroken(f"{what}: content type {media_type!r}, the document has {sorted(content)}")
    if not is_json(media_type):
        return
    errors = schema_errors(content[media_type]["schema"], body)
    if errors:
        raise ContractBroken(f"{what}:\n  " + "\n  ".join(errors[:20]))


def is_json(media_type):
    """One document of JSON; application/x-ndjson is many, or none."""
    return media_type.endswith(("/json", "+json"))


def check_requests_response(response):
    """The same for an answer of the `requests` library."""
    content_type = response.headers.get("Content-Type", "")
    has_json = is_json(content_type.split(";")[0].strip())
    body = response.json() if has_json and response.content else (response.text or None)
    check_response(response.request.method, response.request.path_url, response.status_code, content_type, body)
