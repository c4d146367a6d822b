"""Ends processes once its standard input ends: when whoever started this closes it, or is killed.

A line of the input is a JSON object: {"pid": 17} a process to be ended, {"command": ["…"]} a command to be run then. What
came last is done first.
"""
import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import sys

WAIT_LIMIT_S = 30


def end_process(descriptor):
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        if not select.select([descriptor], [], [], WAIT_LIMIT_S)[0]:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)


def run_command(command):
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, stdin=subprocess.DEVNULL, timeout=2 * WAIT_LIMIT_S, check=False)


def step_of(order):
    """What is to be done for an order; None for a process that has ended."""
    if "command" in order:
        return functools.partial(run_command, order["command"])
    try:
        return functools.partial(end_process, os.pidfd_open(order["pid"]))
    except ProcessLookupError:
        return None


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    steps = [step_of(json.loads(line)) for line in sys.stdin]
    for step in filter(None, reversed(steps)):
        step()


if __name__ == "__main__":
    main()
