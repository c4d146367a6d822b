import contextlib
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from network import Network, agent_config, build_slow_products  # noqa: E402
from openapi_caller import call  # noqa: E402,F401 -- a fixture


def best_core_type():
    """The best setting of OpenBLAS for this processor; Prescott runs on all."""
    flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        return "SkylakeX"
    return "Haswell" if {"avx2", "fma"} <= flags else "Sandybridge" if "avx" in flags else "Prescott"


@contextlib.contextmanager
def two_centers():
    """A server with two centers that differ: alpha's linear algebra is set to an old processor, beta's to the best. Where the
    processor itself is old, alpha's products of matrices take several times as long."""
    with Network() as net:
        cores = sorted(os.sched_getaffinity(0))
        slower = {"OPENBLAS_CORETYPE": "Prescott"}
        if best_core_type() not in ("SkylakeX", "Haswell"):
            slower["LD_PRELOAD"] = build_slow_products(net.folder, 4)
        net.add_agent("alpha", agent_config(cores=str(cores[0]), environment=slower))
        net.add_agent("beta", agent_config(
            cores=str(cores[-1]), unit_name="core-large", environment={"OPENBLAS_CORETYPE": best_core_type()}))
        net.url, net.ca = net.server.url, net.server.ca
        yield net


@pytest.fixture(scope="module")
def network():
    """Two centers for one file."""
    with two_centers() as net:
        yield net


@pytest.fixture(scope="session")
def shared_network():
    """Two centers for all files of a run, one after another."""
    with two_centers() as net:
        yield net


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):  # noqa: F811 -- pytest's name for it
    """On failure, the ends of the processes' logs go into the report."""
    outcome = yield
    report = outcome.get_result()
    arguments = getattr(item, "funcargs", {})
    net = arguments.get("network") or arguments.get("shared_network")
    if report.when == "call" and report.failed and net is not None:
        report.sections.append(("logs of the processes", net.dump_logs()))
