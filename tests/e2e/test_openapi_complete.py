"""Comes last: what the tests before it have called."""
import openapi_check as check


def test_every_operation_was_held_to_the_document(call):
    everything = {operation["operationId"] for _, _, operation in check.operations()}
    assert everything - call.seen == set()
