"""The networks that faults are for: one of centers that start jobs themselves, and those whose center is a Slurm."""
import subprocess
import threading

from cluster import Cluster
from faults import NEEDS_ACCOUNTS, NEEDS_SLURM
from slurm import PROGRAM as SLURM_PROGRAM, SlurmCluster


class NodeAdmin(threading.Thread):
    """Gives a node back that Slurm took out of use since a controller that was killed had it start a job once more: Slurm leaves
    that to an admin."""

    def __init__(self, slurm):
        super().__init__(daemon=True)
        self.slurm = slurm
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(1):
            try:
                for line in self.slurm.run("sinfo", "--noheader", "--Node", "--format=%N|%T|%E").splitlines():
                    node, state, reason = line.split("|", 2)
                    if state == "drained" and reason == "Duplicate jobid":
                        self.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
            except subprocess.CalledProcessError:
                pass  # the controller is away, which is what these histories are about


class ClusterWithSlurm(Cluster):
    """Its only center is a real Slurm."""

    units = {"alpha": 2}
    keeps_accounts = False

    def _add_agents(self):
        self.slurm = SlurmCluster(self.folder, "alpha", accounting=self.keeps_accounts)
        self.admin = NodeAdmin(self.slurm)
        self.admin.start()
        self._add_agent("alpha", self.slurm.agent_config())

    def slurmctld_pid(self):
        return int((self.slurm.folder / "run" / "slurmctld.pid").read_text())

    def is_whole(self):
        """Slurm counts when it takes jobs."""
        takes_jobs = [SLURM_PROGRAM, "takes-jobs", self.slurm.folder]
        return super().is_whole() and subprocess.run(takes_jobs, check=False, timeout=60).returncode == 0

    def dump_logs(self, lines=60):
        """Also what Slurm knows of jobs and nodes, and the end of its logs."""
        text = super().dump_logs(lines)
        for command in (("squeue", "-a", "-t", "all", "-o", "%i %j %T %M %S %e %r %N"), ("sinfo", "-N", "-o", "%N %T %E")):
            try:
                text += f"--- {' '.join(command)}\n{self.slurm.run(*command)}"
            except subprocess.CalledProcessError as error:
                text += f"--- {' '.join(command)}: {error.stderr}\n"
        for log in sorted((self.slurm.folder / "log").iterdir()):
            text += f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) + "\n"
        return text

    def _remove(self):
        folder = self.folder / "slurm-alpha"
        if hasattr(self, "admin"):
            self.admin.is_over.set()
            self.admin.join()
        if folder.exists():  # also where it could not be started whole
            subprocess.run([SLURM_PROGRAM, "stop", folder], check=False, timeout=240)
        super()._remove()


class ClusterWithAccounts(ClusterWithSlurm):
    """Its Slurm has slurmdbd."""

    keeps_accounts = True


class Clusters:
    """One of each kind, made when a fault needs it."""

    def __init__(self):
        self.made = {}

    def of(self, fault):
        """The one that a fault of this name is for."""
        kind = ClusterWithAccounts if fault in NEEDS_ACCOUNTS else ClusterWithSlurm if fault in NEEDS_SLURM else Cluster
        if kind not in self.made:
            self.made[kind] = kind(moves_clocks=True) if kind is Cluster else kind()
        return self.made[kind]

    def close(self):
        for cluster in self.made.values():
            cluster.close()
