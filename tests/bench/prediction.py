"""Predicted against actual run times of real programs, on configurations of one machine that really differ."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from prediction_programs import programs
from prediction_units import Quota, configurations, run

BIN = os.environ["FATHOM_BIN"]
DGEMM = {"name": "dgemm", "operators": [{"id": "dgemm", "parameters": {"m": 1024, "n": 1024, "k": 1024}}]}


class Measured:
    """One configuration with all that was measured on it, by program."""

    def __init__(self, configuration):
        self.configuration = configuration
        self.times = {}
        self.probes = {}
        self.dgemm_s = 0.0


def profile(program, configuration, folder, rounds):
    """The profile whose run time is the median one."""
    found = []
    for number in range(rounds):
        path = folder / f"{program.name}.profile{number}.json"
        command = [f"{BIN}/fathom", "profile", "--format", "json", "--output-file", str(path), "--",
                   *program.command(configuration)]
        run(command, configuration, program.folder)
        found.append((json.loads(path.read_text())["wall_s"], path))
    return sorted(found)[len(found) // 2][1]


def probe(task, configuration, folder, name):
    """With all cores, and with one for what programs do serially."""
    paths = []
    for threads in sorted({configuration.cores(), 1}, reverse=True):
        paths.append(folder / f"{name}.{configuration.name}.{threads}.json")
        command = [f"{BIN}/fathom-probe", "--task", str(task)]
        paths[-1].write_text(run(command, configuration, folder, threads).stdout)
    return paths


def measure(measured, chosen, tasks, folder, rounds):
    """Programs and probes take turns on all configurations, so that drift of the machine meets all of them."""
    for number in range(rounds):
        for place in measured:
            for program in chosen:
                ended = run(program.command(place.configuration), place.configuration, program.folder)
                place.times.setdefault(program.name, []).append(ended.seconds)
                if number == rounds // 2:
                    place.probes[program.name] = probe(tasks[program.name], place.configuration, folder, program.name)
            if number == rounds // 2:
                result = json.loads(probe(tasks["dgemm"], place.configuration, folder, "dgemm")[0].read_text())
                place.dgemm_s = result["operators"][0]["median_s"]


def predict(profile_path, reference, place):
    command = [f"{BIN}/fathom", "predict", "run", "--profile", str(profile_path), "--reference", str(reference[0]),
               "--probe", str(place[0]), "--output", "json"]
    if len(reference) > 1:
        command += ["--reference-one-core", str(reference[1])]
    if len(place) > 1:
        command += ["--one-core", str(place[1])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def error_pct(predicted, actual):
    return 100 * abs(predicted - actual) / actual


def report(measured, chosen, profiles, folder):
    reference, places = measured[0], measured[1:]
    ours, by_dgemm, by_clock, inside = [], [], [], []
    print(f"\n{'program':<10} {'configuration':<16} {'predicted':>9} {'80 % interval':>17} {'actual':>8} {'error':>8}"
          f" {'by DGEMM':>9} {'by clock':>9}")
    for program in chosen:
        for place in places:
            found = predict(profiles[program.name], reference.probes[program.name], place.probes[program.name])
            (folder / f"{program.name}.{place.configuration.name}.prediction.json").write_text(json.dumps(found))
            item = found["items"][0]
            actual = statistics.median(place.times[program.name])
            before = statistics.median(reference.times[program.name])
            dgemm = before * place.dgemm_s / reference.dgemm_s
            clock = before * reference.configuration.power() / place.configuration.power()
            ours.append(error_pct(item["run_s"], actual))
            by_dgemm.append(error_pct(dgemm, actual))
            by_clock.append(error_pct(clock, actual))
            inside.append(item["low_s"] <= actual <= item["high_s"])
            print(f"{program.name:<10} {place.configuration.name:<16} {item['run_s']:>7.2f} s "
                  f"[{item['low_s']:>6.2f}, {item['high_s']:>6.2f}] {actual:>6.2f} s "
                  f"{100 * (item['run_s'] - actual) / actual:>+6.1f} % {100 * (dgemm - actual) / actual:>+7.0f} % "
                  f"{100 * (clock - actual) / actual:>+7.0f} %")
    naive = min(statistics.median(by_dgemm), statistics.median(by_clock))
    print(f"\nmedian error: ours {statistics.median(ours):.1f} %, by DGEMM {statistics.median(by_dgemm):.1f} %, "
          f"by clock × cores × quota {statistics.median(by_clock):.1f} %")
    ninetieth = statistics.quantiles(ours, n=10, method="inclusive")[-1] if len(ours) > 1 else ours[0]
    print(f"RESULT median_abs_error_pct {statistics.median(ours):.1f} percent")
    print(f"RESULT p90_abs_error_pct {ninetieth:.1f} percent")
    print(f"RESULT naive_over_ours {naive / statistics.median(ours):.2f} ratio")
    print(f"RESULT in_interval_pct {100 * sum(inside) / len(inside):.0f} percent")


def work(arguments, folder, quota):
    chosen = [one for one in programs(folder) if not arguments.programs or one.name in arguments.programs.split(",")]
    if not chosen:
        sys.exit("prediction: no such program")
    measured = [Measured(configuration) for configuration in configurations(quota)]
    if arguments.configurations:
        wanted = arguments.configurations.split(",")
        measured = [measured[0], *[one for one in measured[1:] if one.configuration.name in wanted]]
    reference = measured[0].configuration
    tasks = {"dgemm": folder / "dgemm.task.json"}
    tasks["dgemm"].write_text(json.dumps(DGEMM))
    profiles = {}
    print("reference: " + reference.describe())
    for place in measured[1:]:
        print("predicted: " + place.configuration.describe())
    for program in chosen:
        profiles[program.name] = profile(program, reference, folder, arguments.rounds)
        printed = subprocess.run([f"{BIN}/fathom", "predict", "task", str(profiles[program.name])],
                                 capture_output=True, text=True, check=True).stdout
        # A quota or a busy machine may stretch a probe over the limit that centers have; here nobody waits.
        task = {**json.loads(printed), "limit_s": 60, "sample_budget_s": 2}
        tasks[program.name] = folder / f"{program.name}.task.json"
        tasks[program.name].write_text(json.dumps(task))
    measure(measured, chosen, tasks, folder, arguments.rounds)
    report(measured, chosen, profiles, folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--programs", default="")
    parser.add_argument("--configurations", default="")
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, Quota(0.5) as quota:
        folder = pathlib.Path(arguments.keep or temporary).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        work(arguments, folder, quota)


main()
