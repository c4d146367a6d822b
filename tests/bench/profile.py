"""What profiling costs: pairs of runs, alone and profiled in turn, so that drift of the machine meets both."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

BIN = os.environ["FATHOM_BIN"]
TARGET = f"{BIN}/profile_target"
CALLS = 500


def run(size, calls, profiled, report):
    command = [TARGET, "milliseconds", str(calls), str(size)]
    if profiled:
        command = [f"{BIN}/fathom-profile", "--output", "json", "--no-calibration", "--output-file", report, "--",
                   *command]
    begin = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(ended.stdout), time.monotonic() - begin


def size_of_a_millisecond(report):
    """The order of matrices whose product takes about a millisecond here."""
    size = 128
    while True:
        seconds = min(run(size, 50, False, report)[0] for _ in range(3)) / 50
        if seconds >= 0.9e-3:
            return size, seconds
        size = max(size + 8, int(size * min(1.5, (1e-3 / seconds) ** (1 / 3))) // 8 * 8)


def main():
    rounds = int(sys.argv[1])
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/profile.json"
        size, seconds = size_of_a_millisecond(report)
        print(f"DGEMM of order {size}: {1e3 * seconds:.3f} ms a call, {CALLS} calls a run, {rounds} rounds")
        ratios, later = [], []
        for number in range(rounds):
            pair = {}
            for profiled in (False, True) if number % 2 == 0 else (True, False):
                pair[profiled] = run(size, CALLS, profiled, report)
            ratios.append(pair[True][0] / pair[False][0])
            later.append((pair[True][1] - pair[True][0]) - (pair[False][1] - pair[False][0]))
    quarter, middle, three_quarters = statistics.quantiles(ratios, n=4)
    print(f"ratio of times: quartiles {quarter:.4f} {middle:.4f} {three_quarters:.4f}")
    print(f"RESULT overhead_pct {100 * (middle - 1):.2f} %")
    print(f"RESULT start_ms {1e3 * statistics.median(later):.1f} ms")


main()
