"""A private one-machine Slurm to compare with."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

CONTROL = str(pathlib.Path(__file__).with_name("slurm_for_comparison"))


class Slurm:
    """What runs, and how it is reached."""

    def __init__(self, folder, rest_port):
        self.folder = folder
        self.rest_url = f"http://127.0.0.1:{rest_port}"
        self.rest_token = (folder / "token").read_text().strip()
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def run(self, *command):
        """A command of Slurm; its standard output."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True, cwd="/").stdout


@contextlib.contextmanager
def private_slurm():
    """A Slurm until the end of the block; None, with the reason printed, where it cannot run."""
    if os.geteuid() != 0:
        print("slurm: left out: only root's Slurm runs jobs of another user")
        yield None
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-bench-slurm-"))
    try:
        started = subprocess.run([CONTROL, "start", str(folder)], stdout=subprocess.PIPE, text=True, timeout=120, check=False)
        token = folder / "token"
        if started.returncode != 0 or not token.exists() or not token.read_text().strip():
            print("slurm: left out: it does not start here, see above")
            yield None
        else:
            yield Slurm(folder, started.stdout.strip())
    finally:
        subprocess.run([CONTROL, "stop", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)
