"""Predicted against actual run times of real programs, as users meet them: through fathomd, its router and its ledger."""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from prediction_centers import QUOTA_CORES, Bench, ProgramFailed, centers
from prediction_programs import programs
from prediction_units import Quota

BIN = os.environ["FATHOM_BIN"]


class Outcome:
    """One run against what was predicted for it."""

    def __init__(self, program, center, rung, row, naive):
        self.program, self.center, self.rung = program, center, rung
        self.predicted, self.actual, self.naive = row["predicted"], row["actual_run_s"], naive

    def error_pct(self, predicted=None):
        value = self.predicted["run_s"] if predicted is None else predicted
        return 100 * abs(value - self.actual) / self.actual

    def is_inside(self):
        return self.predicted["low_s"] <= self.actual <= self.predicted["high_s"]


class Measuring:
    """Runs every program where it is to be predicted, and keeps what came."""

    def __init__(self, bench, places, rounds):
        self.bench, self.places, self.rounds = bench, places, rounds
        self.outcomes = []
        self.dgemm = {}

    def measure_dgemm(self):
        """For a naive predictor."""
        for place in self.places:
            self.dgemm[place.name] = self.dgemm_at(place.name)

    def dgemm_at(self, center):
        """Asked for again where a busy machine stretched a probe over its limit."""
        self.bench.open_only(center)
        for _ in range(3):
            run, = self.bench.rest.post("/probe-runs", {"centers": [center], "operators": [
                {"id": "dgemm", "parameters": {"m": 1024, "n": 1024, "k": 1024}}]})["items"]
            self.bench.wait_for_probes()
            ended = self.bench.rest.get(f"/probe-runs/{run['id']}")
            if ended["state"] == "succeeded":
                return ended["result"]["operators"][0]["median_s"]
        sys.exit(f"prediction: dgemm could not be measured at {center}: {ended['error']}")

    def naive(self, before, place, last):
        reference = self.places[0]
        found = {"same time": before, "by DGEMM": before * self.dgemm[place.name] / self.dgemm[reference.name],
                 "by clock × cores": before * reference.power() / place.power()}
        if last is not None:
            found["last run there"] = last
        return found

    def note(self, program, place, rung, ended, before, last):
        _, row, winner = ended
        if row["predicted"] is None:
            print(f"{program.name:<10} {place.name:<10} {rung:<9} nothing was predicted; it took "
                  f"{row['actual_run_s']:.2f} s")
            return
        outcome = Outcome(program.name, place.name, rung, row, self.naive(before, place, last))
        self.outcomes.append(outcome)
        rungs = ", ".join(f"{r['rung']} {r['weight']:.2f}" for r in winner.get("rungs", []))
        print(f"{program.name:<10} {place.name:<10} {rung:<9} {outcome.predicted['run_s']:>7.2f} s "
              f"[{outcome.predicted['low_s']:>6.2f}, {outcome.predicted['high_s']:>6.2f}] {outcome.actual:>7.2f} s "
              f"{100 * (outcome.predicted['run_s'] / outcome.actual - 1):>+6.1f} %  {rungs}", flush=True)

    def work(self, program):
        reference, *others = self.places
        job = program.job()
        try:
            self.bench.run(program.name, job, reference.name)  # files come into memory
        except ProgramFailed as failed:
            print(f"{program.name} cannot run on this machine and is left out. {failed}", file=sys.stderr)
            return
        profiled = self.bench.run(program.name, job, reference.name, profile=True)
        self.bench.wait_until_learned(profiled[0]["id"], profiled[1]["job_type"])
        before = profiled[1]["actual_run_s"]
        again = self.bench.run(program.name, job, reference.name)
        self.note(program, reference, "again", again, before, before)
        for place in others:
            last = None
            for number in range(self.rounds):
                rung = ("first", "second", "third")[min(number, 2)]
                ended = self.bench.run(program.name, job, place.name)
                self.note(program, place, rung, ended, before, last)
                last = ended[1]["actual_run_s"]

    def load(self, chosen):
        """Two programs at the same time, each on a core of its own."""
        if len(os.sched_getaffinity(0)) < 2 or len(chosen) < 2:
            return
        cpus = sorted(os.sched_getaffinity(0))
        for program in chosen:
            before = next((o.actual for o in self.outcomes if o.program == program.name and o.center == "older"), None)
            if before is None:
                continue
            with Neighbour(cpus[-1]):
                ended = self.bench.run(program.name, program.job(), "older")
            self.note(program, self.places[1], "loaded", ended, before, before)


class Neighbour:
    """Keeps a core and the memory busy, as another center's job would."""

    CODE = ("import numpy\na = numpy.random.random((1500, 1500))\nb = numpy.random.random(30_000_000)\n"
            "while True:\n    a @ a\n    b * 2\n")

    def __init__(self, cpu):
        self.cpu = cpu

    def __enter__(self):
        self.process = subprocess.Popen(
            ["taskset", "-c", str(self.cpu), "/usr/bin/python3", "-c", self.CODE],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def ninetieth(values):
    return statistics.quantiles(values, n=10, method="inclusive")[-1] if len(values) > 1 else values[0]


def report_rung(name, outcomes):
    """@return the median error over that of the best naive predictor"""
    ours = [o.error_pct() for o in outcomes]
    naive = {kind: statistics.median(o.error_pct(o.naive[kind]) for o in outcomes if kind in o.naive)
             for kind in outcomes[0].naive}
    inside = 100 * sum(o.is_inside() for o in outcomes) / len(outcomes)
    print(f"{name:<22} n {len(outcomes):>3}   median {statistics.median(ours):>5.1f} %   p90 {ninetieth(ours):>5.1f} %   "
          f"in interval {inside:>3.0f} %   " + ", ".join(f"{kind} {error:.1f} %" for kind, error in naive.items()))
    return statistics.median(ours) / max(min(naive.values()), 0.1)


def report(measured):
    by_rung = {}
    for outcome in measured.outcomes:
        by_rung.setdefault(outcome.rung, []).append(outcome)
    print()
    over = {rung: report_rung(rung, outcomes) for rung, outcomes in by_rung.items()}
    for place in measured.places[1:]:
        chosen = [o for o in by_rung.get("first", []) if o.center == place.name]
        if chosen:
            report_rung(f"first, {place.name}", chosen)
    figures = []
    if first := by_rung.get("first"):
        errors = [o.error_pct() for o in first]
        figures += [("new_place_median_error_pct", statistics.median(errors)),
                    ("new_place_p90_error_pct", ninetieth(errors))]
    if second := by_rung.get("second"):
        figures.append(("second_run_median_error_pct", statistics.median(o.error_pct() for o in second)))
    if loaded := by_rung.get("loaded"):
        figures.append(("loaded_median_error_pct", statistics.median(o.error_pct() for o in loaded)))
    figures.append(("in_interval_pct", 100 * sum(o.is_inside() for o in measured.outcomes) / len(measured.outcomes)))
    for name, value in figures:
        print(f"RESULT {name} {value:.1f} percent")
    print(f"RESULT worst_over_naive {max(over.values()):.2f} ratio")


def work(arguments, folder, quota):
    wanted = arguments.programs.split(",") if arguments.programs else ["numpy", "zstd"] if arguments.quick else []
    chosen = programs(folder, wanted)
    if not chosen:
        sys.exit("prediction: no such program")
    places = centers(quota)
    for place in places:
        print(place.describe())
    bench = Bench(places, folder)
    try:
        measured = Measuring(bench, places, 2 if arguments.quick else arguments.rounds)
        measured.measure_dgemm()
        for program in chosen:
            measured.work(program)
        measured.load(chosen)
        report(measured)
    except BaseException:
        print(bench.dump_logs(30), file=sys.stderr)
        raise
    finally:
        bench.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--programs", default="")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-prediction-"))
    folder.chmod(0o755)
    try:
        with Quota(QUOTA_CORES) as quota:
            work(arguments, folder, quota)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
