"""The work of tests/bench/gpu_memory, whose help says what it measures."""
import argparse
import csv
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
GPU = "GPU-00000000-1111-2222-3333-444444444444"
MIB = 1 << 20
SCALE = 64
CARD = 12288 * MIB // SCALE
# Model and batch size, in the order in which they join.
JOBS = [("inception3", 100), ("resnet50", 75), ("resnet101", 50), ("vgg11", 50)]


def sizes_of(model, batch):
    """Persistent and temporary memory in MiB, scaled: even, since layers are pieces of 2 MiB."""
    with open(ROOT / "tests/data/salus/memory_p100.csv", encoding="utf-8") as file:
        points = [(float(row["batch"]), float(row["peak_mem_MB"])) for row in csv.DictReader(file) if row["model"] == model]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    persistent = max(mean_y - slope * mean_x, 0.02 * mean_y)
    even = lambda mib: max(2, 4 * round(mib * 1e6 / MIB / SCALE / 4))
    return even(persistent), even(slope * batch)


class Node:
    """The memory manager, on a stand-in for one GPU."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "cards").mkdir()
        (self.folder / "gpus").write_text(f"gpu\t{GPU}\tStand-in\t{CARD}\n")
        self.environment = {**os.environ, "FATHOM_STANDIN_GPUS": str(self.folder / "gpus"),
                            "FATHOM_STANDIN_NO_POISON": "1",
                            "FATHOM_STANDIN_CARDS": str(self.folder / "cards"),
                            "LD_LIBRARY_PATH": f"{BUILD}/standin_driver:{BUILD}/standin_gpu"}
        self.socket = self.folder / "socket"
        self.state = self.folder / "state.json"
        self.process = subprocess.Popen(
            [BUILD / "bin/fathom-agent", "gpu-memory", "serve", "--socket", self.socket, "--state-file", self.state,
             "--gap-bytes", str(2 * MIB), "--reserved-bytes", "0", "--slice-s", "0.2", "--most-slice-s", "20"],
            env=self.environment, stderr=subprocess.DEVNULL)
        while not self.socket.exists():
            time.sleep(0.01)

    def jobs(self):
        try:
            return {job["job"]: job for job in json.loads(self.state.read_text())["gpus"][0]["jobs"]}
        except (OSError, ValueError):
            return {}

    def start(self, name, options, variables=None, preload=True):
        environment = {**self.environment, "FATHOM_GPU_JOB": name, **(variables or {})}
        if preload:
            environment |= {"LD_PRELOAD": str(BUILD / "bin/libfathom-gpu.so"), "FATHOM_GPU_SOCKET": str(self.socket)}
        command = [BUILD / "bin/training_loop", *(str(word) for pair in options.items() for word in pair)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def peak_bytes(self):
        """The most that all programs together have had of the card: first in the stand-in's books (card_books.hpp)."""
        with open(self.folder / "cards" / GPU, "rb") as books:
            return struct.unpack("=q", books.read(8))[0]

    def copied_s(self):
        """How long the card's engine has copied, by the stand-in's virtual clock: in its books, too."""
        with open(self.folder / "cards" / GPU, "rb") as books:
            return struct.unpack("=6q", books.read(48))[4] / 1e9

    def stop(self):
        self.process.terminate()
        self.process.wait()


def run_set(count, iterations, variables):
    """Counts of all switches, iterations a second, and peak use of the card."""
    with tempfile.TemporaryDirectory() as folder:
        node = Node(folder)
        began = time.monotonic()
        running = []
        for model, batch in JOBS[:count]:
            persistent, temporary = sizes_of(model, batch)
            running.append(node.start(model, {"weights-mib": persistent, "activations-mib": temporary, "layers": 2,
                                              "iterations": iterations, "tell": "yes", "hold": "yes"},
                                      {**variables, "FATHOM_STANDIN_CLOCK": "virtual",
                                       "FATHOM_GPU_PERSISTENT_BYTES": str(persistent * MIB),
                                       "FATHOM_GPU_TEMPORARY_BYTES": str(temporary * MIB)}))
        last = {}
        while any(job.poll() is None for job in running):
            last |= node.jobs()
            time.sleep(0.05)
        wall_s = time.monotonic() - began
        node.stop()
        assert all(job.returncode == 0 for job in running), "a training loop has failed"
        sums = {key: sum(job[key] for job in last.values()) for key in ("switches", "moved_bytes", "switch_s")}
        return {"bytes": sums["moved_bytes"] / max(sums["switches"], 1),
                "ms": 1000 * sums["switch_s"] / max(sums["switches"], 1),
                "clock_ms": 1000 * node.copied_s() / max(sums["switches"], 1),
                "switches": sums["switches"], "per_s": count * iterations / wall_s, "peak": node.peak_bytes()}


def unified_model(count):
    """What unified memory would do when each job in turn touches all that it has: bytes that move per turn, and peak use of
    the card. A model: nothing of it runs, and the time of page faults is not in it."""
    sizes = [sum(sizes_of(*job)) * MIB for job in JOBS[:count]]
    resident = []  # least recently used first: job and bytes
    moved, peak, turns = 0, 0, 20 * count
    for turn in range(turns):
        job = turn % count
        here = sum(size for who, size in resident if who == job)
        resident = [entry for entry in resident if entry[0] != job]
        moved += sizes[job] - here if turn >= count else 0
        need = sizes[job]
        over = sum(size for _, size in resident) + need - CARD
        while over > 0 and resident:
            who, size = resident.pop(0)
            gone = min(size, over)
            moved += gone if turn >= count else 0
            over -= gone
            if size > gone:
                resident.insert(0, (who, size - gone))
        resident.append((job, need))
        peak = max(peak, sum(size for _, size in resident))
    return {"bytes": moved / (turns - count), "peak": peak}


def call_ns(node, preload):
    """The least of five: what else runs on the host only adds."""
    options = {"weights-mib": 2, "activations-mib": 4, "iterations": 1, "calls": 2_000_000, "tell": "yes"}
    results = []
    for _ in range(5):
        output, _ = node.start("calls", options, preload=preload).communicate()
        results.append(json.loads(output.splitlines()[-1])["call_ns"])
    return min(results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=20)
    iterations = parser.parse_args().iterations
    print(f"the GPU is a stand-in of {CARD / MIB:.0f} MiB: bytes and peak use are counted, times are those of the host's "
          "memory; unified memory is modelled, and was not run; by the stand-in's virtual clock a copy takes 10 us and 1 ms for "
          "each 12 MB")
    names = ("fewer", "fewer_unified", "ms", "swap_ms", "clock_ms", "swap_clock_ms", "speed", "peak", "swap_peak", "unified_peak")
    figures = {name: [] for name in names}
    for count in (2, 3, 4):
        ours = run_set(count, iterations, {})
        swap = run_set(count, iterations, {"FATHOM_GPU_SWAP": "everything"})
        unified = unified_model(count)
        for way, of in (("ours", ours), ("swapping everything", swap)):
            print(f"{count} jobs  {way:20} {of['bytes'] / MIB:8.1f} MiB and {of['ms']:7.2f} ms a switch "
                  f"(copies {of['clock_ms']:.2f} ms by the virtual clock), "
                  f"{of['switches']} switches, {of['per_s']:6.1f} iterations/s, peak use {of['peak'] / MIB:6.1f} MiB")
        print(f"{count} jobs  {'unified, modelled':20} {unified['bytes'] / MIB:8.1f} MiB a switch, "
              f"peak use {unified['peak'] / MIB:6.1f} MiB")
        figures["fewer"].append(100 * (1 - ours["bytes"] / swap["bytes"]))
        if unified["bytes"] > 0:
            figures["fewer_unified"].append(100 * (1 - ours["bytes"] / unified["bytes"]))
        figures["ms"].append(ours["ms"])
        figures["swap_ms"].append(swap["ms"])
        figures["clock_ms"].append(ours["clock_ms"])
        figures["swap_clock_ms"].append(swap["clock_ms"])
        figures["speed"].append(ours["per_s"] / swap["per_s"])
        for name, of in (("peak", ours), ("swap_peak", swap), ("unified_peak", unified)):
            figures[name].append(100 * of["peak"] / CARD)
    with tempfile.TemporaryDirectory() as folder:
        node = Node(folder)
        overhead = call_ns(node, True) - call_ns(node, False)
        node.stop()
    print(f"RESULT fewer_bytes_moved_pct {min(figures['fewer']):.1f} %")
    if figures["fewer_unified"]:
        print(f"RESULT fewer_bytes_than_unified_pct {min(figures['fewer_unified']):.1f} %")
    print(f"RESULT switch_ms {sum(figures['ms']) / 3:.2f} ms")
    print(f"RESULT swap_all_switch_ms {sum(figures['swap_ms']) / 3:.2f} ms")
    print(f"RESULT switch_clock_ms {sum(figures['clock_ms']) / 3:.2f} ms")
    print(f"RESULT swap_all_switch_clock_ms {sum(figures['swap_clock_ms']) / 3:.2f} ms")
    print(f"RESULT speed_over_swap_all {min(figures['speed']):.2f} ratio")
    print(f"RESULT peak_use_pct {max(figures['peak']):.1f} %")
    print(f"RESULT swap_all_peak_use_pct {max(figures['swap_peak']):.1f} %")
    print(f"RESULT unified_peak_use_pct {max(figures['unified_peak']):.1f} %")
    print(f"RESULT call_overhead_ns {overhead:.1f} ns")
    print(f"RESULT overhead_pct {overhead / 5000 * 100:.2f} %")


if __name__ == "__main__":
    main()
