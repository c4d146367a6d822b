"""A real Slurm on this machine, as a center has one."""
import contextlib
import os
import pathlib
import pwd
import secrets
import signal
import socket
import subprocess

from network import Network, probe_for_jobs, wait_until

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "slurm_cluster"
JOBS_USER = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def why_no_slurm(*options):
    """Why none can run here; empty where one can. `options`: "accounting", for one with slurmdbd; "rest", with slurmrestd."""
    outcome = subprocess.run([PROGRAM, "check", *options], capture_output=True, text=True)
    return outcome.stdout.strip()


class SlurmCluster:
    """One Slurm with its controller and a node; with `accounting`, with slurmdbd and the users of the tests; with `rest`, with
    slurmrestd, which its agents use; with `switch`, with a topology of one leaf switch of that name. Of one node, or of two with `cpus` each."""

    def __init__(self, folder, name, gpus=0, accounting=False, rest=False, cpus=2, nodes=1, switch="", settings=""):
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
        settings += "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
        self.folder.mkdir(mode=0o755)
        if switch:
            settings += "TopologyPlugin=topology/tree\n"
            host = socket.gethostname().split(".")[0]
            (self.folder / "topology.conf").write_text(f"SwitchName={switch} Nodes={host}{'-[1-2]' if nodes == 2 else ''}\n")
        if gpus > 0:
            settings += f"GresTypes=gpu\nNodeName=DEFAULT Gres=gpu:tesla:{gpus}\n"
            # Device files that each machine has; Slurm looks no further.
            (self.folder / "gres.conf").write_text("".join(
                f"Name=gpu Type=tesla File={file}\n" for file in ("/dev/zero", "/dev/full")[:gpus]))
        self.call("start", name, str(cpus), "quick", *(["accounting"] if accounting else []),
                  *(["rest"] if rest else []), *(["two-nodes"] if nodes == 2 else []), settings=settings)
        self.token_file = self.folder / "token" if rest else None
        if rest:
            self.write_token()
        if accounting:
            self.manage("add", "account", "fathom")
            for user in {JOBS_USER, pwd.getpwuid(os.geteuid()).pw_name}:
                self.manage("add", "user", user, "account=fathom", "defaultaccount=fathom")

    def call(self, action, *arguments, settings=""):
        subprocess.run([PROGRAM, action, self.folder, *arguments], check=True, timeout=900, input=settings, text=True)

    def agent_config(self, *lines, work=None):
        """`lines` stand in place of its unit type; `work`: the folder of another agent's jobs."""
        lines = lines or ("[[unit_type]]", f'name = "core-{self.name}"', "cores_per_unit = 1")
        return "\n".join([
            'executor = "slurm"', f'slurm_conf = "{self.folder}/slurm.conf"', f'slurm_work_folder = "{work or self.work}"',
            *([f'slurm_rest = "unix:{self.folder}/run/slurmrestd"', f'slurm_token_file = "{self.token_file}"'] if self.token_file else []),
            *(['run_as = "nobody"'] if os.geteuid() == 0 else []), f'probe_program = "{probe_for_jobs()}"',
            f'input_folders = "{self.inputs}"', f'output_folders = "{self.outputs}"', *lines]) + "\n"

    def run(self, program, *arguments):
        environment = {**os.environ, "SLURM_CONF": f"{self.folder}/slurm.conf"}
        return subprocess.run([program, *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    def manage(self, *words):
        """A change of accounts, users or limits."""
        self.run("sacctmgr", "--immediate", *words)

    def accounts_of(self, attempt_id, *fields):
        """Of all jobs that were ever submitted for an attempt, in the order of their submission, what sacct says of each."""
        lines = self.run("sacct", "--noheader", "--parsable2", "--allusers", "--duplicates", "--noconvert",
                         "--starttime=now-1day", f"--name={attempt_id}", f"--format=JobID,{','.join(fields)}").splitlines()
        # Not --allocations: without its steps a job has no processor time.
        rows = [tuple(line.split("|")) for line in lines]
        return [row[1:] for row in rows if "." not in row[0]]

    def kill_accounting(self):
        os.kill(int((self.folder / "run" / "slurmdbd.pid").read_text()), signal.SIGKILL)

    def write_token(self, lifespan_s=86_400):
        """One of this process's user, by which root submits for others."""
        new = self.token_file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(self.run("scontrol", "token", f"lifespan={lifespan_s}"))
        new.rename(self.token_file)

    def kill_rest(self):
        os.kill(int((self.folder / "run" / "slurmrestd.pid").read_text()), signal.SIGKILL)

    def wait_saved(self, attempt_id):
        """Until slurmctld has written down what it knows now of an attempt's job, which it does within five seconds of each change:
        found by a comment that is given to the job. One that is killed before starts jobs a second time or gives their numbers to
        others, which the node then refuses to run."""
        comment = f"saved-{secrets.token_hex(8)}"
        number = self.run("squeue", "-h", "-a", f"--name={attempt_id}", "-o", "%i").strip()
        self.run("scontrol", "update", f"JobId={number}", f"AdminComment={comment}")
        wait_until(lambda: comment.encode() in (self.folder / "state" / "job_state").read_bytes(), 120, "slurmctld saving its state")

    def jobs_of(self, attempt_id):
        """States of all jobs that were ever submitted for an attempt."""
        lines = self.run("squeue", "-h", "-a", "-t", "all", "-o", "%j %T").splitlines()
        return [line.split()[1] for line in lines if line.split()[0] == attempt_id]


@contextlib.contextmanager
def slurm_network(agent_lines=(), **cluster):
    """A network with one center, alpha: a SlurmCluster, `network.cluster`, with its agent, `network.agent`."""
    with Network() as network, contextlib.ExitStack() as stack:
        network.cluster = SlurmCluster(network.folder, "alpha", **cluster)
        stack.callback(network.cluster.call, "stop")
        stack.callback(network.stop_agents)
        network.agent = network.add_agent("alpha", network.cluster.agent_config(*agent_lines))
        yield network


def submit(network, line, **more):
    """A job of the shell at alpha; its id."""
    return network.submit(command=["sh", "-c", line], units={"center": "alpha"}, **{"wall_limit_s": 300, **more})["id"]
