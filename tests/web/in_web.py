"""Runs the console's own commands."""
import pathlib
import subprocess

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"


def run_in_web(*command):
    """What it printed stands in the failure."""
    done = subprocess.run(command, cwd=WEB, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    print(done.stdout[-20000:])
    assert done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}"
