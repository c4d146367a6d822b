"""The measuring part of tests/bench/repeatability."""
import argparse
import itertools
import json
import math
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time

LIMIT = 0.05
HOUR_S = 3600
NOT_THE_UNITS_ALONE = {"file_read", "file_write", "network_fetch", "mpi_latency", "mpi_bandwidth", "mpi_allreduce",
                       "mpi_alltoall", "tcp_allreduce"}


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("--peer", help="operator_bench: what the bare libraries show in the same minutes")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--disturbed", type=int, default=6)
    parser.add_argument("--sendings", type=int, default=3)
    parser.add_argument("--pause-s", type=float, default=5)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--size-class")
    parser.add_argument("--keep")
    return parser.parse_args()


def manifests(probe, wanted):
    output = subprocess.run([probe, "--list", "--output", "json"], capture_output=True, text=True, check=True).stdout
    found = [m for m in json.loads(output)["operators"] if m["id"] not in NOT_THE_UNITS_ALONE]
    if missing := set(wanted) - {m["id"] for m in found}:
        sys.exit(f"there is no such operator to measure: {', '.join(sorted(missing))}")
    return [m for m in found if not wanted or m["id"] in wanted]


def asked_size(manifest, size_class_name):
    """The defaults, as the metascheduler's own task has them, or those of a size class."""
    size = {p["name"]: p["default"] for p in manifest["parameters"]}
    for size_class in manifest["size_classes"]:
        if size_class["name"] == size_class_name:
            size.update(size_class["parameters"])
    return size


def drawn_size(manifest, asked):
    """By the manifest's rules: docs/measurement.md, "A probe is drawn"."""
    drawn = dict(asked)
    for parameter in manifest["parameters"]:
        rule = parameter.get("draw")
        if rule is None:
            continue
        steps = math.floor(rule["share"] * asked[parameter["name"]]) // rule["step"]
        value = asked[parameter["name"]] + random.randint(-steps, steps) * rule["step"]
        drawn[parameter["name"]] = min(max(value, parameter["min"]), parameter["max"])
    return drawn


def work_of(manifest, size):
    """Operations by the manifest's formula, or bytes for operators without any."""
    names = {**size, "log2": math.log2}
    for formula in (manifest["operation_count"], manifest["byte_count"]):
        work = eval(formula.replace("^", "**"), {"__builtins__": {}}, names)  # our own manifests
        if work > 0:
            return work
    return 1


def measure(arguments, operators):
    """Each operator's median, scaled back to the asked size; and the result."""
    asked = [asked_size(m, arguments.size_class) for m in operators]
    drawn = [drawn_size(m, size) for m, size in zip(operators, asked)]
    task = {"name": "repeatability", "limit_s": 30, "repeats": 5, "seed": random.randrange(1, 2**53),
            "operators": [{"id": m["id"], "parameters": size} for m, size in zip(operators, drawn)]}
    environment = {**os.environ, "FATHOM_CORES": str(arguments.cores)}
    done = subprocess.run([arguments.probe, "--task", "-"], input=json.dumps(task), capture_output=True, text=True,
                          env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"fathom-probe failed:\n{done.stderr}")
    result = json.loads(done.stdout)
    if arguments.keep:
        with open(arguments.keep, "a", encoding="utf-8") as file:
            file.write(done.stdout)
    medians = {}
    for manifest, wanted, size, item in zip(operators, asked, drawn, result["operators"]):
        medians[manifest["id"]] = item["median_s"] * work_of(manifest, wanted) / work_of(manifest, size)
    return medians, result


def measure_bare(arguments, operators, bare):
    """A plain loop around each library, as steady as the machine lets it be: added to `bare` by operator."""
    command = [arguments.peer, "--bare"]
    for manifest in operators:
        command += ["--operator", manifest["id"]]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in output.splitlines():
        operator, seconds = line.split()
        bare.setdefault(operator, []).append(float(seconds))


def measure_often(arguments, operators, times, what, bare=None):
    series = []
    for i in range(times):
        if i > 0:
            time.sleep(arguments.pause_s)
        medians, result = measure(arguments, operators)
        series.append((medians, result))
        if bare is not None and arguments.peer:
            measure_bare(arguments, operators, bare)
        disturbed = sum(len(item["disturbed"]) for item in result["operators"])
        samples = sum(len(item["samples_s"]) for item in result["operators"])
        print(f"{what} {i + 1} of {times}: {result['wall_s']:.1f} s, {samples} samples, {disturbed} disturbed", flush=True)
    return series


def burst():
    """Computes for half a second in every two, on the cores that the probe may use."""
    while True:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            sum(range(1000))
        time.sleep(random.uniform(0, 3))


def differences(values):
    return [max(a, b) / min(a, b) - 1 for a, b in itertools.combinations(values, 2)]


def share_within(pairs):
    return 100 * sum(d <= LIMIT for d in pairs) / len(pairs)


def of_several(values, sendings):
    """The median of each so many in a row, in the order in which they were measured; what is left over counts in none."""
    return [statistics.median(values[start:start + sendings]) for start in range(0, len(values) - sendings + 1, sendings)]


def share_of_medians(values_by_operator, sendings):
    """Of all pairs of medians of so many sendings: the share within 5 %; None where there is no pair."""
    pairs = [d for values in values_by_operator.values() for d in differences(of_several(values, sendings))]
    return share_within(pairs) if pairs else None


def report_medians(arguments, quiet, bare):
    """Sendings of the same minutes have a mood of the machine in common, which their median has, too."""
    if arguments.pause_s < HOUR_S:
        print(f"\nmedians of {arguments.sendings} sendings at different hours are compared with --pause-s {HOUR_S} or more")
        return
    for name, values in (("bare_median_pairs_within_5pct", bare), ("median_pairs_within_5pct", quiet)):
        share = share_of_medians(values, arguments.sendings)
        if share is not None:
            print(f"RESULT {name} {share:.1f} percent")


def report(operators, series):
    print(f"\n{'operator':<20} {'median':>10} {'pairs':>6} {'within 5 %':>10} {'median diff':>11} {'largest':>8} "
          f"{'interval':>8} {'samples':>8} {'disturbed':>9}")
    everything = []
    for i, manifest in enumerate(operators):
        items = [result["operators"][i] for _, result in series]
        medians = [medians[manifest["id"]] for medians, _ in series]
        pairs = differences(medians)
        everything += pairs
        width = statistics.median((x["ci_high_s"] - x["ci_low_s"]) / 2 / x["median_s"] for x in items)
        samples = statistics.mean(len(x["samples_s"]) for x in items)
        disturbed = statistics.mean(len(x["disturbed"]) for x in items)
        print(f"{manifest['id']:<20} {statistics.median(medians) * 1e3:8.4g}ms {len(pairs):6d} {share_within(pairs):8.1f} % "
              f"{100 * statistics.median(pairs):9.2f} % {100 * max(pairs):6.1f} % {100 * width:6.2f} % {samples:8.1f} "
              f"{disturbed:9.1f}")
    return share_within(everything)


def main():
    arguments = parse_arguments()
    if arguments.runs < 2 or arguments.disturbed == 1:
        sys.exit("at least two measurements make a pair")
    if arguments.sendings < 2:
        sys.exit("a median of several sendings is one of two at least")
    # Bound to its cores, as an agent binds a unit.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-arguments.cores:])
    operators = manifests(arguments.probe, arguments.operator)
    bare = {}
    quiet_series = measure_often(arguments, operators, arguments.runs, "measurement", bare)
    quiet = report(operators, quiet_series)
    bare_pairs = {operator: differences(values) for operator, values in bare.items()}
    if bare_pairs:
        print("\nthe bare library, timed by a plain loop after each measurement (at its default size; a drawn size is not timed):")
        for operator, pairs in bare_pairs.items():
            print(f"{operator:<20} {len(pairs):6d} pairs, {share_within(pairs):5.1f} % within 5 %, median difference "
                  f"{100 * statistics.median(pairs):.2f} %")
    if arguments.disturbed:
        print()
        rival = multiprocessing.Process(target=burst, daemon=True)
        rival.start()
        series = measure_often(arguments, operators, arguments.disturbed, "beside bursts")
        rival.terminate()
        rival.join()
        print(f"\nRESULT pairs_within_5pct_disturbed {report(operators, series):.1f} percent")
    if bare_pairs:
        everything = [d for pairs in bare_pairs.values() for d in pairs]
        print(f"\nRESULT bare_pairs_within_5pct {share_within(everything):.1f} percent")
    print(f"RESULT pairs_within_5pct {quiet:.1f} percent")
    report_medians(arguments, {m["id"]: [medians[m["id"]] for medians, _ in quiet_series] for m in operators}, bare)


if __name__ == "__main__":
    main()
