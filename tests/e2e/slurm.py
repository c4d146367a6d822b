"""A real Slurm on this machine, as a center has one."""
import os
import pathlib
import pwd
import subprocess

from network import probe_for_jobs

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "slurm_cluster"
JOBS_USER = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def why_no_slurm():
    """Why none can run here; empty where one can."""
    outcome = subprocess.run([PROGRAM, "check"], capture_output=True, text=True)
    return outcome.stdout.strip()


class SlurmCluster:
    """One Slurm with its controller and a node."""

    def __init__(self, folder, name, gpus=0):
        self.folder = folder / f"slurm-{name}"
        self.name = name
        self.work = folder / f"work-{name}"
        self.work.mkdir(mode=0o755)
        self.inputs = folder / f"inputs-{name}"
        self.inputs.mkdir(mode=0o755)
        self.outputs = folder / f"outputs-{name}"
        self.outputs.mkdir()
        self.outputs.chmod(0o777)  # jobs may be nobody's
        # A partition of a higher tier takes the place of jobs; without one, nothing is pre-empted.
        settings = "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
        if gpus > 0:
            settings += f"GresTypes=gpu\nNodeName=DEFAULT Gres=gpu:tesla:{gpus}\n"
            self.folder.mkdir(mode=0o755)
            # Device files that each machine has; Slurm looks no further.
            (self.folder / "gres.conf").write_text("".join(
                f"Name=gpu Type=tesla File={file}\n" for file in ("/dev/zero", "/dev/full")[:gpus]))
        self.call("start", name, "2", "quick", settings=settings)

    def call(self, action, *arguments, settings=""):
        subprocess.run([PROGRAM, action, self.folder, *arguments], check=True, timeout=240, input=settings, text=True)

    def agent_config(self, *lines, work=None):
        """`lines` stand in place of its unit type; `work`: the folder of another agent's jobs."""
        lines = lines or ("[[unit_type]]", f'name = "core-{self.name}"', "cores_per_unit = 1")
        return "\n".join([
            'executor = "slurm"', f'slurm_conf = "{self.folder}/slurm.conf"', f'slurm_work_folder = "{work or self.work}"',
            *(['run_as = "nobody"'] if os.geteuid() == 0 else []), f'probe_program = "{probe_for_jobs()}"',
            f'input_folders = "{self.inputs}"', f'output_folders = "{self.outputs}"', *lines]) + "\n"

    def run(self, program, *arguments):
        environment = {**os.environ, "SLURM_CONF": f"{self.folder}/slurm.conf"}
        return subprocess.run([program, *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    def jobs_of(self, attempt_id):
        """States of all jobs that were ever submitted for an attempt."""
        lines = self.run("squeue", "-h", "-a", "-t", "all", "-o", "%j %T").splitlines()
        return [line.split()[1] for line in lines if line.split()[0] == attempt_id]
