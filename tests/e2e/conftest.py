import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from network import Network, agent_config  # noqa: E402


def best_core_type():
    """The best setting of OpenBLAS for this processor: several times faster than Prescott's, above any noise."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return "SkylakeX" if "avx512vl" in flags else "Haswell"


@pytest.fixture(scope="module")
def network():
    """A server with two centers that differ: alpha's linear algebra is set to an old processor, beta's to the best."""
    net = Network()
    cores = sorted(os.sched_getaffinity(0))
    try:
        net.add_agent("alpha", agent_config(cores=str(cores[0]), core_type="Prescott"))
        net.add_agent("beta", agent_config(cores=str(cores[-1]), unit_name="core-large", core_type=best_core_type()))
        net.url, net.ca = net.server.url, net.server.ca
        yield net
    finally:
        net.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """On failure, the ends of the processes' logs go into the report."""
    outcome = yield
    report = outcome.get_result()
    net = getattr(item, "funcargs", {}).get("network")
    if report.when == "call" and report.failed and net is not None:
        report.sections.append(("logs of the processes", net.dump_logs()))
