"""Replicas and agents are replaced one after another by the same version, and nobody notices. From an older version:
tests/faults/rolling_upgrade."""
import os
import pathlib

from upgrading import UpgradingCluster, upgrade


def test_replacing_every_part_loses_no_request_and_no_job():
    cluster = UpgradingCluster(replicas=2)
    try:
        violations = upgrade(cluster, pathlib.Path(os.environ["FATHOM_BIN"]))
        assert not violations, "\n".join(violations) + "\n" + cluster.dump_logs()
    finally:
        cluster.close()
