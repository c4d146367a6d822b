"""Starts a real network for the console's tests: fathomd, two centers, their first measurements.

Prints one line of JSON with url, ca, token and outputs, a folder in which jobs may store theirs, then runs until its standard input
ends. A line "restart" there kills fathomd and starts it anew; "restarted" says when it is ready again. What stands after "--" are
settings of fathomd. FATHOM_BIN says where the programs are; by default those of the release build.
"""
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("FATHOM_BIN", str(ROOT / "build" / "release" / "bin"))
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from balanced_gpu import BalancedGpu  # noqa: E402
from network import Network, agent_config  # noqa: E402


# Devices that centers may give up to each other; no program of the center's has to be told.
SUB_UNITS = """[[device]]
kind = "vgpu"
count = 16
variable = "VGPU_VISIBLE_DEVICES"
[[unit_type]]
name = "vgpu"
resource_type = "vgpu"
cores_per_unit = 0
memory_bytes_per_unit = 1000000
[[sub_units]]
kind = "vgpu"
unit_type = "vgpu"
total = 8
"""


def main():
    own, settings = sys.argv[1:], []
    if "--" in own:
        own, settings = own[:own.index("--")], own[own.index("--") + 1:]
    empty = "--empty" in own
    sub_units = "--sub-units" in own
    net = Network(settings=settings)
    try:
        outputs = net.folder / "outputs"
        outputs.mkdir()
        outputs.chmod(0o777)  # jobs have users of their own
        if sub_units:
            for center in ("alpha", "beta"):
                net.add_agent(center, 'cores = "0"\n' + SUB_UNITS)
        elif "--balance" in own:
            gpu = BalancedGpu(net)  # whose loop is idle until a job runs on it
        elif not empty:
            extra = f'output_folders = "{outputs}"'
            net.add_agent("alpha", agent_config(cores="0", unit_name="core", extra=extra))
            net.add_agent("beta", agent_config(cores="1", unit_name="core-large", extra=extra))
        users = {}
        for role in ("viewer", "user"):
            users[role] = net.rest.post("/tokens", {"name": role, "role": role})["token"]
        print(json.dumps({"url": net.server.url, "ca": str(net.server.ca), "token": net.admin_token,
                          "agent_port": net.server.agent_port, "tokens": users, "outputs": str(outputs)}), flush=True)
        for order in sys.stdin:
            if order.startswith("busy"):
                transfer, load = map(float, order.split()[1:])
                gpu.be_busy(transfer, load)
                print("busy", flush=True)
                continue
            assert order.strip() == "restart", order
            net.server.process.kill()
            net.server.start()
            print("restarted", flush=True)
    finally:
        net.close()


main()
