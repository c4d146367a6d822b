#!/usr/bin/python3 -I
"""A fathom-probe that cheats, for tests. It stands before the real one and does what the file `mode` in its folder says:

honest     runs the real one, and remembers what it said
fast_path  does nothing for a quarter of the time and claims that, when it remembers these operators at these sizes; with
           the seed as ordered
replay     says again what it remembers, word for word
slow_clock runs the real one, and halves every time that it says, the whole run's too
better     runs the real one without what slows jobs down here
"""
import json
import os
import pathlib
import subprocess
import sys
import time

os.umask(0)  # the next probe, as another user, remembers what this one has noted
FOLDER = pathlib.Path(os.environ["FATHOM_CHEAT_FOLDER"])
REAL = os.environ["FATHOM_CHEAT_REAL"]
OPERATOR_TIMES = ("first_s", "median_s", "ci_low_s", "ci_high_s")
RUN_TIMES = ("wall_s", "start_up_s", "task_s")


def sizes(items):
    return sorted((item["id"], json.dumps(item["parameters"], sort_keys=True)) for item in items)


def scale_times(result, factor):
    for name in RUN_TIMES:
        result[name] *= factor
    for item in result["operators"]:
        for name in OPERATOR_TIMES:
            item[name] *= factor
        item["samples_s"] = [s * factor for s in item["samples_s"]]


def run_real(without=""):
    environment = {name: value for name, value in os.environ.items() if name != without}
    outcome = subprocess.run([REAL, *sys.argv[1:]], stdout=subprocess.PIPE, env=environment)
    if outcome.returncode != 0:
        sys.exit(outcome.returncode)
    return outcome.stdout.decode()


def remembered(task):
    """The newest result of these operators at these sizes."""
    for path in sorted(FOLDER.glob("record-*.json"), reverse=True):
        result = json.loads(path.read_text())
        if sizes(result["operators"]) == sizes(task["operators"]):
            return result
    return None


def note(how):
    (FOLDER / "answered").write_text(how)


def answer(mode, task):
    if mode == "replay":
        return json.loads(sorted(FOLDER.glob("record-*.json"))[-1].read_text())
    known = remembered(task) if mode == "fast_path" else None
    if known:
        known["seed"] = task["seed"]
        scale_times(known, 0.25)
        time.sleep(known["wall_s"])
        note("from memory")
        return known
    note("computed")
    result = json.loads(run_real(without="LD_PRELOAD" if mode == "better" else ""))
    if mode == "slow_clock":
        scale_times(result, 0.5)
    if mode == "honest":
        (FOLDER / f"record-{len(list(FOLDER.glob('record-*')))}.json").write_text(json.dumps(result))
    return result


def main():
    if "--task" not in sys.argv:
        os.execv(REAL, [REAL, *sys.argv[1:]])
    task = json.loads(pathlib.Path(sys.argv[sys.argv.index("--task") + 1]).read_text())
    print(json.dumps(answer((FOLDER / "mode").read_text().strip(), task)))


main()
