"""The measuring part of tests/bench/simulator."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MIXES = {"mixed": "", "plain": "plain_"}  # with what their figures' names begin


def simulate(programs, folder, policy, seed):
    """Runs `fathom simulate` with a report; its JSON, processor seconds, seconds and peak memory in MiB."""
    command = [programs / "fathom", "simulate", "--centers", folder / "centers.json", "--workload", folder / "jobs.jsonl",
               "--policy", policy, "--seed", str(seed), "--output", "json", "--timing", "--report", folder / "report.html"]
    with open(folder / "figures.json", "w") as out, open(folder / "errors.txt", "w") as errors:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # so that nobody waits for it again
        wall_s = time.monotonic() - begin
    if child.returncode != 0:
        sys.exit(f"fathom simulate ended with {child.returncode}:\n{(folder / 'errors.txt').read_text()[-2000:]}")
    figures = json.loads((folder / "figures.json").read_text())
    return figures, usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss / 1024


def measure(programs, mix, jobs, settings):
    """Times one size of one mix; its processor seconds, peak memory and decisions per processor second."""
    with tempfile.TemporaryDirectory(prefix="fathom-simulator-") as name:
        folder = pathlib.Path(name)
        subprocess.run([programs / "simulator_world", "--folder", folder, "--jobs", str(jobs), "--load",
                        str(settings.load)] + (["--mixed"] if mix == "mixed" else []), check=True)
        output, core_s, wall_s, rss_mib = simulate(programs, folder, settings.policy, settings.seed)
    run = output["policies"][0]["runs"][0]
    figures = run["figures"]
    # The policy is timed by the wall clock, of which this process had a part.
    decisions_per_s = run["decisions_per_s"] * max(1.0, wall_s / core_s)
    print(f"{mix} {jobs:>9} jobs {core_s:9.2f} s of a core ({wall_s:.2f} s of time) {1e6 * core_s / jobs:9.2f} us a job "
          f"{decisions_per_s:9.0f} decisions/s {rss_mib:6.0f} MiB; at most {run['most_waiting']} waited, mean completion "
          f"{figures['mean_completion_s']:.0f} s, {figures['impossible']} impossible, {figures['missed_deadline']} of "
          f"{figures['with_deadline']} deadlines missed", flush=True)
    if figures["jobs"] != jobs or figures["ended"] + figures["impossible"] != jobs:
        sys.exit(f"{figures['jobs']} of {jobs} jobs were simulated, {figures['ended']} ended")
    return core_s, rss_mib, decisions_per_s


def measure_sizes(programs, mix, sizes, settings):
    """Times all sizes of one mix, and prints its figures."""
    measured = [measure(programs, mix, jobs, settings) for jobs in sizes]
    prefix = MIXES[mix]
    largest_s, _, decisions_per_s = measured[-1]
    million = "million_" if sizes[-1] == 1_000_000 else ""
    lines = [f"RESULT {million}{prefix}jobs_100_centers_s {largest_s:.2f} s",
             f"RESULT {prefix}peak_rss_mib {max(rss_mib for _, rss_mib, _ in measured):.0f} MiB"]
    times_us = [1e6 * core_s / jobs for jobs, (core_s, _, _) in zip(sizes, measured)]
    lines += [f"RESULT {prefix}us_per_job_{jobs} {us:.2f} us" for jobs, us in zip(sizes, times_us)]
    if len(sizes) > 1:
        growth = times_us[-1] / times_us[-2] * math.log(sizes[-2]) / math.log(sizes[-1])
        lines.append(f"RESULT {prefix}growth_over_logarithm {growth:.2f} times")
    lines.append(f"RESULT {prefix}decisions_per_s {decisions_per_s:.0f} 1/s")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--policy", default="fathom")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mix", choices=sorted(MIXES))
    settings = parser.parse_args()
    sizes = [settings.jobs // shrink for shrink in (100, 10, 1) if settings.jobs // shrink >= 1000]
    if not sizes:
        sys.exit("simulator: at least 1000 jobs")
    lines = []
    for mix in [settings.mix] if settings.mix else MIXES:
        lines += measure_sizes(settings.programs, mix, sizes, settings)
    print("\n".join(lines))
    for mix in MIXES:
        if settings.mix and mix != settings.mix:
            print(f"left out: the figures of the {mix} jobs, which were not simulated")


main()
