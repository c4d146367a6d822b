"""The running server answers as the document says: sub-units, shared GPUs, balanced units.

Its tests add centers to the network: they come after those that know who is there.
"""
import json

import openapi_check as check
from balanced_gpu import BalancedGpu
from network import wait_until
from openapi_caller import A

SUB_UNITS = """cores = "0"
[[device]]
kind = "npu"
count = 20
variable = "NPU"
[[unit_type]]
name = "npu"
resource_type = "npu"
cores_per_unit = 0
memory_bytes_per_unit = 1000000
[[sub_units]]
kind = "npu-part"
unit_type = "npu"
total = 10
"""


def test_sub_units(call, shared_network):
    for name in ("lender", "borrower"):  # at the end: other tests know who is there
        shared_network.add_agent(name, SUB_UNITS)

    def settled():
        kinds = call("GET", A + "/sub-units?page_size=1").json()["items"]
        return len(kinds) == 1 and len(kinds[0]["centers"]) == 2 and all(c["settled"] for c in kinds[0]["centers"])

    wait_until(settled, 120, "both centers having their own")
    order = {"center": "borrower", "kind": "npu-part", "action": "gain", "count": 4, "reason": "busy"}
    gain = call("POST", A + "/sub-unit-requests", 201, json=order).json()
    call("POST", A + "/sub-unit-requests", 409, json=order)
    call("POST", A + "/sub-unit-requests", 422, json={**order, "center": "lender", "count": 11})
    wrong = call("POST", A + "/sub-unit-requests", 400, json={**order, "action": "steal", "count": 0, "x": 1}).json()
    assert {error["field"] for error in wrong["errors"]} == {"action", "count", "x"}
    balance = {"center": "lender", "kind": "npu-part", "action": "balance", "transfer_load": 1, "compute_load": 0.6}
    release = call("POST", A + "/sub-unit-requests", 201, json=balance).json()
    assert (release["action"], release["count"]) == ("release", 4)
    grant = wait_until(lambda: [g for g in call("GET", A + "/sub-unit-grants?kind=npu-part&center=lender").json()["items"]
                                if g["state"] == "granted"], 120, "the grant")[0]
    wait_until(lambda: call("GET", A + f"/sub-unit-requests/{gain['id']}").json()["state"] == "done", 120)
    call("GET", A + "/sub-unit-requests/sur_none", 404)
    call("GET", A + "/sub-unit-requests?kind=npu-part&center=borrower&open=false&page_size=1")
    call("GET", A + "/sub-unit-requests?open=perhaps", 400)
    call("DELETE", A + f"/sub-unit-requests/{gain['id']}", 409)
    call("DELETE", A + "/sub-unit-requests/sur_none", 404)
    waiting = call("POST", A + "/sub-unit-requests", 201, json={**order, "count": 1}).json()
    assert call("DELETE", A + f"/sub-unit-requests/{waiting['id']}").json()["state"] == "cancelled"
    back = call("POST", A + f"/sub-unit-grants/{grant['id']}:undo", 201, json={}).json()
    assert back["undo_of"] == grant["id"]
    call("POST", A + "/sub-unit-grants/sug_none:undo", 404, json={})
    wait_until(settled, 120, "both having their own again")
    call("POST", A + f"/sub-unit-grants/{grant['id']}:undo", 409, json={})
    events = call("GET", A + "/sub-unit-events?kind=npu-part&page_size=2").json()
    call("GET", A + f"/sub-unit-events?kind=npu-part&page_token={events['next_page_token']}")


def test_shared_gpus(call):
    assert call("GET", A + "/shared-gpus?center=alpha&job=job_none&page_size=1").json()["items"] == []


def test_balance(call, shared_network):
    gpu = BalancedGpu(shared_network, name="balancer")  # at the end: other tests know who is there
    gpu.run_job()
    gpu.wait_for_steps(2)
    units = call("GET", A + "/balanced-units?center=balancer&page_size=1").json()["items"]
    assert units[0]["unit"] == "gpu0" and units[0]["last"]["dry_run"]
    steps = A + "/centers/balancer/units/gpu0/balance"
    page = call("GET", steps + "?page_size=1&since=2026-01-01T00:00:00Z").json()
    call("GET", steps + f"?page_size=1&page_token={page['next_page_token']}")
    call("GET", steps + "?since=yesterday", 400)
    call("GET", A + "/centers/balancer/units/none/balance", 404)
    call("GET", A + "/centers/balancer/units/none/balance/events", 404)
    with call.session.get(shared_network.url + steps + "/events?after=0", stream=True, timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        data = next(line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data:"))
    assert not check.schema_errors({"$ref": "#/components/schemas/BalanceStep"}, json.loads(data[len("data:"):]))
    call.seen.add("streamBalanceSteps")
