"""The fault matrix, short: each fault once, at one step or another. tests/faults/run plays them all, and longer."""
import os

import pytest

from checker import check
from clusters import Clusters
from faults import FAULTS, NEEDS_ACCOUNTS, NEEDS_ROOT, NEEDS_SLURM
from history import STEPS, play
from slurm import why_no_slurm

# A silence that outlasts the lease takes 20 s; one kind of it is enough here.
LEFT_OUT = {"agent_lost"}
CASES = [(name, STEPS[number % len(STEPS)]) for number, name in enumerate(FAULTS) if name not in LEFT_OUT]


@pytest.fixture(scope="module")
def clusters():
    made = Clusters()
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize("fault, step", CASES)
def test_nothing_is_lost_or_doubled(clusters, fault, step):
    if fault in NEEDS_ROOT and os.geteuid() != 0:
        pytest.skip("only root mounts a file system to fill")
    no_slurm = why_no_slurm(*(["accounting"] if fault in NEEDS_ACCOUNTS else [])) if fault in NEEDS_SLURM else ""
    if no_slurm:
        pytest.skip(f"{no_slurm}: deploy/install-dependencies --tests installs it")
    cluster = clusters.of(fault)
    history, seen = play(cluster, 1000 + list(FAULTS).index(fault), fault, step)
    violations = check(history) + seen
    assert not violations, "\n".join(violations) + "\n" + cluster.dump_logs()
