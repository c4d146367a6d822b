"""Two Slurm clusters on this machine as the centers of the quickstart: other nodes, partitions, units and library settings."""
import os
import pathlib
import subprocess

from centers import blas_core_types, split_cores
from network import Failed, say

CLUSTER = pathlib.Path(__file__).with_name("slurm_cluster")

# Slurm shows jobs for an hour after their end, and notes them in a file for longer. %s: the cluster's folder; %d: MiB
SETTINGS = """MinJobAge=3600
JobCompType=jobcomp/filetxt
JobCompLoc=%s/log/jobs
NodeName=DEFAULT RealMemory=%d
"""
# Besides `main`, and not offered to the network.
PARTITION_OF_ITS_OWN = "PartitionName=debug Nodes=ALL MaxTime=30 State=UP\n"
MOST_CORES_OF_A_UNIT = 4
COLUMNS = "%.6i %.9P %.9u %.10T %.6M %.4C  %30j  %k"


def run(*command, **more):
    return subprocess.run([str(a) for a in command], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more)


def usable_memory(gib):
    """In bytes: Slurm takes no jobs on a node that has less than its settings say."""
    return min(gib << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)


class Cluster:
    """One Slurm: munged, slurmctld, slurmd with one node."""

    def __init__(self, name, folder, cores, memory_gib, settings):
        self.name, self.folder, self.cores = name, folder, cores
        self.settings = SETTINGS % (folder, usable_memory(memory_gib * len(cores)) >> 20) + settings

    @property
    def conf(self):
        return self.folder / "slurm.conf"

    def prepare(self):
        outcome = run(CLUSTER, "prepare", self.folder, self.name, len(self.cores), "quick", input=self.settings)
        if outcome.returncode != 0:
            raise Failed(f"the settings of {self.name}'s Slurm: {outcome.stdout.strip().removeprefix('slurm_cluster: ')}")

    def start(self, net):
        for program in ("munged", "slurmctld", "slurmd"):
            # Jobs have the cores that slurmd has.
            pinned = ["taskset", "-c", ",".join(map(str, self.cores))] if program == "slurmd" else []
            net.start(f"{self.name}-{program}", *pinned, CLUSTER, "run", self.folder, program)
        net.at_end({"command": [str(CLUSTER), "end-jobs", str(self.folder)]})

    def takes_jobs(self):
        return run(CLUSTER, "takes-jobs", self.folder).returncode == 0

    def ask(self, *command):
        """What a command of Slurm prints."""
        outcome = run(*command, env={**os.environ, "SLURM_CONF": str(self.conf)})
        if outcome.returncode != 0:
            raise Failed(f"`SLURM_CONF={self.conf} {' '.join(command)}` of {self.name}'s Slurm ended with status "
                         f"{outcome.returncode}: {outcome.stdout.strip()}")
        return outcome.stdout

    def jobs(self, *which):
        """(state, name, comment) of jobs, also of those that have ended."""
        lines = self.ask("squeue", "--noheader", "--states=all", "--format=%T|%j|%k", *which).splitlines()
        return [tuple(line.split("|", 2)) for line in lines]

    def show(self, *which):
        say(f"\n{self.name}$ squeue --states=all {' '.join(which)}".rstrip())
        say(self.ask("squeue", "--states=all", "--sort=i", f"--format={COLUMNS}", *which).rstrip())

    def agent_config(self, core_type, unit_types=""):
        # Slurm's nodes know the users of this machine; sbatch runs a job as another user for root only.
        user = 'run_as = "nobody"\n' if os.geteuid() == 0 else ""
        return (f'executor = "slurm"\nslurm_conf = "{self.conf}"\nslurm_work_folder = "{self.folder}/work"\n'
                f'slurm_partitions = "main"\n{user}[environment]\nOPENBLAS_CORETYPE = "{core_type}"\n{unit_types}')


class SlurmCenters:
    """Agents that submit jobs to their center's Slurm."""

    folder = "slurm"

    def __init__(self):
        self.clusters = {}

    def prepare(self, net):
        """@raise Failed  Slurm cannot run here."""
        why_not = run(CLUSTER, "check").stdout.strip()
        if why_not:
            raise Failed(f"Slurm cannot run here: {why_not}. `deploy/install-dependencies --slurm` installs Debian's Slurm")
        first, second = split_cores()
        self.add(net, "alpha", first, 2)
        self.add(net, "beta", second[:MOST_CORES_OF_A_UNIT], 4, PARTITION_OF_ITS_OWN)

    def add(self, net, name, cores, memory_gib, settings=""):
        self.clusters[name] = Cluster(name, net.state_dir / self.folder / name, cores, memory_gib, settings)
        self.clusters[name].prepare()

    def start(self, net):
        for cluster in self.clusters.values():
            cluster.start(net)
        for cluster in self.clusters.values():
            net.wait(cluster.takes_jobs, 60, f"starting {cluster.name}'s Slurm")
            say(f"\n{cluster.name}'s Slurm is up; its settings: {cluster.conf}\n{cluster.name}$ sinfo")
            say(cluster.ask("sinfo", "--format=%9P %.5a %.10l %.6D %.5c %.7m %.6t  %N").rstrip())
        say()

    def configs(self, net):
        """alpha's node is cut into cores; beta's is a unit as it stands."""
        slower, best = blas_core_types()
        return {"alpha": self.clusters["alpha"].agent_config(slower, '[[unit_type]]\nname = "core"\ncores_per_unit = 1\n'),
                "beta": self.clusters["beta"].agent_config(best)}

    def show_probes(self, net):
        say("The probe tasks were jobs of each center's Slurm, named by attempt:")
        for cluster in self.clusters.values():
            net.wait(lambda: any(state == "COMPLETED" and comment.startswith("fathom probe ")
                                 for state, _, comment in cluster.jobs()), 30, f"a probe task in {cluster.name}'s Slurm")
            cluster.show()
        say()

    def show_job(self, net, job):
        cluster = self.clusters[job["attempt"]["center"]]
        name = job["attempt"]["id"]
        net.wait(lambda: [state for state, *_ in cluster.jobs(f"--name={name}")] == ["COMPLETED"], 30,
                 f"{job['name']} being shown as completed by {cluster.name}'s Slurm")
        cluster.show(f"--name={name}")
        say()

    def hints(self, net):
        confs = "".join(f"  SLURM_CONF={cluster.conf} squeue --states=all\n" for cluster in self.clusters.values())
        return f"{confs}Slurm's own log of jobs that ended: {net.state_dir}/{self.folder}/*/log/jobs\n"
