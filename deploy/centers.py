"""The two centers of the quickstart: other cores, other cuts, other library settings."""
import os
import pathlib

from network import say


def split_cores():
    """The cores of the two centers."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        say("note: this machine has one core only: the centers share it and disturb each other's measurements")
    half = max(1, len(cores) // 2)
    return cores[:half], cores[half:] or cores


def blas_core_types():
    """Two settings of OpenBLAS that this processor can run and that differ: (slower, best)."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    # Where 512 bits are executed in two halves, SkylakeX is no faster than Haswell.
    is_intel = any(line.startswith("vendor_id") and "GenuineIntel" in line for line in lines)
    if is_intel and "avx512f" in flags and "avx512vl" in flags:
        return "Haswell", "SkylakeX"
    if "avx2" in flags:
        return "Nehalem", "Haswell"
    return "Prescott", "Nehalem"


class LocalCenters:
    """Agents that start jobs on this machine themselves."""

    folder = None  # what it keeps in the state folder besides the server and the agents

    def prepare(self, net):
        pass

    def start(self, net):
        """What the agents need."""

    def configs(self, net):
        """The agents' config files, by center."""
        first, second = split_cores()
        slower, best = blas_core_types()

        def config(cores, name, cores_per_unit, memory_gib, core_type):
            return (f'cores = "{",".join(map(str, cores))}"\n'
                    f'[environment]\nOPENBLAS_CORETYPE = "{core_type}"\n'
                    f'[[unit_type]]\nname = "{name}"\ncores_per_unit = {cores_per_unit}\n'
                    f"memory_bytes_per_unit = {memory_gib << 30}\n")
        return {"alpha": config(first, "core", 1, 2, slower),
                "beta": config(second, "core-large", min(2, len(second)), 4, best)}

    def show_probes(self, net):
        """Where else the probe tasks that have just run are seen."""

    def show_job(self, net, job):
        """Where else a job that has succeeded is seen."""

    def hints(self, net):
        return ""
