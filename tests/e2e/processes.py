"""Processes, as the kernel sees them."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def resident_memory_kib(pid):
    """KeyError: a process that has ended, which has none."""
    return int(status(pid)["VmRSS"].split()[0])


def children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(child) for child in listed.split()]


@contextlib.contextmanager
def halted(pid):
    """The process and those that it has started take no step in the block, save those that just end."""
    both = [pid, *children(pid)]
    for one in both:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in both:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGCONT)


def descendants(pid):
    found = children(pid)
    return found + [below for child in found for below in descendants(child)]


def is_gone(pid):
    try:
        return status(pid)["State"].startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return True


def has_tcp_socket(pid):
    inodes = {line.split()[9] for family in ("tcp", "tcp6") for line in
              pathlib.Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]}
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(descriptor)
        except FileNotFoundError:
            continue
        if target.startswith("socket:[") and target[8:-1] in inodes:
            return True
    return False


def kill_all_of(folder):
    """Ends all processes of a network that lies in this folder, and the jobs that still run at its agents."""
    for path in folder.glob("*/attempts/*/supervisor.json"):
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended, or has not written that yet
            supervisor = json.loads(path.read_text())
            facts = pathlib.Path(f"/proc/{supervisor['pid']}/stat").read_text().rpartition(") ")[2].split()
            if int(facts[19]) == supervisor["start_ticks"]:
                os.kill(supervisor["pid"], signal.SIGKILL)
    subprocess.run(["pkill", "-9", "-f", str(folder)], check=False)
