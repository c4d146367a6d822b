"""Configurations of this machine that stand for centers: cores, the kernels that OpenBLAS uses, processor time."""
import dataclasses
import os
import pathlib
import subprocess
import sys
import time


class Quota:
    """A control group, version 1 or 2, that gives its processes a share of one core's time; removed at the end."""

    PERIOD_US = 100_000

    def __init__(self, cores):
        self.cores = cores
        self.folder = None

    def __enter__(self):
        for root, files in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": f"{self.PERIOD_US}",
                                                    "cpu.cfs_quota_us": f"{int(self.cores * self.PERIOD_US)}"}),
                            ("/sys/fs/cgroup", {"cpu.max": f"{int(self.cores * self.PERIOD_US)} {self.PERIOD_US}"})):
            folder = pathlib.Path(root) / f"fathom-bench-{os.getpid()}"
            try:
                folder.mkdir()
                for name, value in files.items():
                    (folder / name).write_text(value)
                self.folder = folder
                return self
            except OSError:
                if folder.is_dir():
                    folder.rmdir()
        print("prediction: no control group can be made here (root?): no configuration with a quota", file=sys.stderr)
        return self

    def __exit__(self, *_):
        if self.folder is not None:
            self.folder.rmdir()


@dataclasses.dataclass
class Configuration:
    name: str
    kernels: str
    cpus: list
    quota: Quota | None = None

    def cores(self):
        return len(self.cpus)

    def power(self):
        """Cores times quota; the clock is the same on one machine."""
        return self.quota.cores if self.quota else self.cores()

    def environment(self, threads=0):
        cores = str(threads or self.cores())
        return {**os.environ, "OPENBLAS_CORETYPE": self.kernels, "OPENBLAS_NUM_THREADS": cores,
                "OMP_NUM_THREADS": cores, "FATHOM_CORES": cores, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def describe(self):
        quota = f", {100 * self.quota.cores:.0f} % of a core's time" if self.quota else ""
        return f"{self.name}: {self.cores()} core(s), OpenBLAS kernels for {self.kernels}{quota}"


@dataclasses.dataclass
class Ended:
    seconds: float
    stdout: str


def configurations(quota):
    """The reference first."""
    cpus = sorted(os.sched_getaffinity(0))
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if "avx2" not in flags:
        sys.exit("prediction: this processor has too few kernels to choose from")
    best = "SkylakeX" if "avx512vl" in flags else "Haswell"
    found = [Configuration("reference", best, cpus[:1]), Configuration("old", "Prescott", cpus[:1])]
    if quota.folder is not None:
        found.append(Configuration("half a core", "Haswell", cpus[:1], quota))
        found.append(Configuration("old half", "Prescott", cpus[:1], quota))
    if len(cpus) >= 2:
        found.append(Configuration("2 cores", "Haswell", cpus[:2]))
        found.append(Configuration("2 cores, older", "Sandybridge", cpus[:2]))
    return found


def run(command, configuration, folder, threads=0):
    """Runs on the configuration's processors, ahead of others where that is allowed."""
    def prepare():
        os.sched_setaffinity(0, configuration.cpus)
        if configuration.quota is not None:
            (configuration.quota.folder / "cgroup.procs").write_text(str(os.getpid()))
        try:
            os.nice(-10)
        except OSError:
            pass

    begin = time.monotonic()
    # One thread here: what runs between fork and exec is safe.
    ended = subprocess.run(command, cwd=folder, env=configuration.environment(threads), stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False, preexec_fn=prepare)
    seconds = time.monotonic() - begin
    if ended.returncode != 0:
        sys.exit(f"prediction: {' '.join(command)} ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
    return Ended(seconds, ended.stdout)
