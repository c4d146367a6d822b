"""The networks that faults are for: one of centers that start jobs themselves, and one whose center is a Slurm."""
import subprocess

from cluster import Cluster
from faults import NEEDS_SLURM
from slurm import PROGRAM as SLURM_PROGRAM, SlurmCluster


class ClusterWithSlurm(Cluster):
    """Its only center is a real Slurm."""

    units = {"alpha": 2}

    def _add_agents(self):
        self.slurm = SlurmCluster(self.folder, "alpha")
        self._add_agent("alpha", self.slurm.agent_config())

    def slurmctld_pid(self):
        return int((self.slurm.folder / "run" / "slurmctld.pid").read_text())

    def is_whole(self):
        """Slurm counts when it takes jobs."""
        takes_jobs = [SLURM_PROGRAM, "takes-jobs", self.slurm.folder]
        return super().is_whole() and subprocess.run(takes_jobs, check=False, timeout=60).returncode == 0

    def _remove(self):
        folder = self.folder / "slurm-alpha"
        if folder.exists():  # also where it could not be started whole
            subprocess.run([SLURM_PROGRAM, "stop", folder], check=False, timeout=240)
        super()._remove()


class Clusters:
    """One with Slurm and one without, each made when a fault needs it."""

    def __init__(self):
        self.made = {}

    def of(self, fault):
        """The one that a fault of this name is for."""
        kind = ClusterWithSlurm if fault in NEEDS_SLURM else Cluster
        if kind not in self.made:
            self.made[kind] = kind() if kind is ClusterWithSlurm else kind(moves_clocks=True)
        return self.made[kind]

    def close(self):
        for cluster in self.made.values():
            cluster.close()
