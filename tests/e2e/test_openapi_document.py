"""The document itself is well-formed."""
import pytest

import openapi_check as check


def nodes(node, path="#"):
    """Every dictionary of the document with its place."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from nodes(value, f"{path}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from nodes(value, f"{path}/{index}")


def test_every_reference_resolves():
    for path, node in nodes(check.document()):
        if "$ref" in node:
            assert check.resolve(node) is not None, path


def test_every_schema_is_a_json_schema():
    for name, schema in check.document()["components"]["schemas"].items():
        check.Draft202012Validator.check_schema(schema)
        assert schema.get("description"), f"{name} has no description"


def test_every_operation_is_complete():
    tags = {tag["name"] for tag in check.document()["tags"]}
    seen = set()
    for path, method, operation in check.operations():
        what = f"{method} {path}"
        assert operation.get("summary"), what
        assert operation["operationId"] not in seen, f"{what}: operationId is duplicated"
        seen.add(operation["operationId"])
        assert operation["tags"] and set(operation["tags"]) <= tags, what
        assert any(status.startswith(("2", "302")) for status in operation["responses"]), what
        default = check.resolve(operation["responses"]["default"])
        assert "application/problem+json" in default["content"], what


def test_every_change_names_its_act_in_the_audit_log_or_is_left_out_on_purpose():
    changing = {operation["operationId"]: operation for operation in check.changing_operations()}
    for name, operation in changing.items():
        assert ("x-audit" in operation) != (name in check.NOT_AUDITED), name
    assert set(check.NOT_AUDITED) | set(check.AUDITED_ELSEWHERE) <= set(changing)
    acts = {act for _, _, operation in check.operations() for act in operation.get("x-audit", ())}
    assert all(check.re.fullmatch(r"[a-z_]+\.[a-z_]+", act) for act in acts)


def test_path_parameters_are_declared():
    for path, method, operation in check.operations():
        wanted = set(check.re.findall(r"\{([^}]+)\}", path))
        declared = {check.resolve(p)["name"] for p in operation.get("parameters", [])
                    if check.resolve(p)["in"] == "path"}
        assert wanted == declared, f"{method} {path}"


def test_request_examples_fit_their_schemas():
    for path, method, operation in check.operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, example in content.get("examples", {}).items():
            assert not check.schema_errors(content["schema"], example["value"]), f"{method} {path}: {name}"


def test_the_check_notices_wrong_answers():
    good = {"status": "ok"}
    check.check_response("GET", "/healthz", 200, "application/json", good)
    for status, content_type, body in [(200, "application/json", {"status": "fine"}),
                                       (200, "text/html", good), (204, "application/json", good)]:
        with pytest.raises(check.ContractBroken):
            check.check_response("GET", "/healthz", status, content_type, body)
