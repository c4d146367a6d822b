"""Predicted against actual run times of real programs, as users meet them: through fathomd, its router and its ledger."""
import argparse
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

from prediction_centers import PAIR, QUOTA_CORES, Bench, ProgramFailed, centers
from prediction_programs import programs
from prediction_report import Outcome, report
from prediction_units import Quota

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from network import wait_until  # noqa: E402

BIN = os.environ["FATHOM_BIN"]


class Measuring:
    """Runs every program where it is to be predicted, and keeps what came."""

    def __init__(self, bench, places, rounds):
        self.bench, self.places, self.rounds = bench, places, rounds
        self.outcomes = []
        self.profiling_pct = []  # how much longer than the next run of its program each profiled one held its unit
        self.dgemm = {}
        self.before = {}  # program -> its job type, and what the profiled run took

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
        if rung == "loaded" and winner.get("neighbours"):
            rungs += ", beside {busy_cores:.2f} cores {factor:.3f} times as long".format(**winner["neighbours"])
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
        self.before[program.name] = (profiled[1]["job_type"], before)
        again = self.bench.run(program.name, job, reference.name)
        self.note(program, reference, "again", again, before, before)
        held_s = [job["attempt"]["run_s"] for job, *_ in (profiled, again)]
        self.profiling_pct.append(100 * (held_s[0] / held_s[1] - 1))
        for place in (place for place in others if place.name != PAIR):
            last = None
            for number in range(self.rounds):
                rung = ("first", "second", "third")[min(number, 2)]
                ended = self.bench.run(program.name, job, place.name)
                self.note(program, place, rung, ended, before, last)
                last = ended[1]["actual_run_s"]

    def load(self, chosen):
        """Each program alone, and then beside a job on the other unit, after what neighbours cost was measured as Fathom does
        it where a type's units are free: by copies of what the program was seen to execute."""
        pair = next((place for place in self.places if place.name == PAIR), None)
        known = [program for program in chosen if program.name in self.before]
        if pair is None or not known:
            return
        self.bench.open_only(PAIR)
        for program in known:
            self.bench.measure_copies(self.before[program.name][0], PAIR)
        for program in known:
            alone = self.bench.run(program.name, program.job(), PAIR)
            with neighbour(self.bench):
                ended = self.bench.run(program.name, program.job(), PAIR)
            self.note(program, pair, "loaded", ended, self.before[program.name][1], alone[1]["actual_run_s"])


@contextlib.contextmanager
def neighbour(bench):
    """Another's job on the other unit of the pair, which keeps its core and the memory busy."""
    code = ("import numpy\na = numpy.random.random((1500, 1500))\nb = numpy.random.random(30_000_000)\n"
            "while True:\n    a @ a\n    b * 2\n")
    job = bench.submit(name="neighbour", command=["/usr/bin/python3", "-c", code], wall_limit_s=3600,
                       environment={"OPENBLAS_NUM_THREADS": "1"}, units={"center": PAIR, "count": 1})
    wait_until(lambda: bench.job(job["id"])["state"] == "running", 120, "the neighbour")
    try:
        yield
    finally:
        bench.rest.call("POST", f"/jobs/{job['id']}:cancel")
        bench.wait_job(job["id"])


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
        bench.know_machine(places[0].name)
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
