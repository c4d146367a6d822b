"""Comes last: what the tests before it have called."""
import collections
import pathlib

import openapi_check as check
from openapi_caller import A

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_operation_was_held_to_the_document(call):
    everything = {operation["operationId"] for _, _, operation in check.operations()}
    assert everything - call.seen == set()


def recorded_acts(call):
    """Of the whole audit log, by the request behind them; looks at jobs are no changes."""
    acts = collections.defaultdict(set)
    page = {}
    while page == {} or page["next_page_token"]:
        token = {"page_token": page["next_page_token"]} if page else {}
        page = call("GET", A + "/audit-log", params={"page_size": 1000, **token}).json()
        for act in page["items"]:
            if not act["action"].startswith(("job.read", "job.list")):
                acts[act["request_id"]].add(act["action"])
    return acts


def test_every_change_left_its_act_in_the_audit_log(call):
    """At least one of each operation: one that found all as it should be has changed nothing."""
    acts = recorded_acts(call)
    seen = collections.defaultdict(set)
    for operation, request in call.changes:
        seen[operation] |= acts[request]
    for operation in check.changing_operations():
        name = operation["operationId"]
        if name in check.NOT_AUDITED:
            assert not seen[name], f"{name} is recorded: x-audit in the document should say so"
        elif name in check.AUDITED_ELSEWHERE:
            text = (ROOT / check.AUDITED_ELSEWHERE[name]).read_text(encoding="utf-8")
            assert any(act in text for act in operation["x-audit"]), name
        else:
            assert seen[name], f"{name} has left nothing in the audit log"
            assert seen[name] <= set(operation["x-audit"]), name
