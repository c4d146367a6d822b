"""Centers with stand-ins for NVIDIA's libraries, stricter than the originals: a program sees the one GPU that it was handed, or none."""
import os
import shutil

import pytest

import openapi_check as check
from network import BIN, Network, build_slow_products

MIB = 1 << 20


class GpuCenters:
    """Centers of a core and two GPUs each; only how fast the bus to the GPUs is differs. Products of matrices take eight
    times as long on cores as on GPUs."""

    def __init__(self, bus_gb_s):
        """`bus_gb_s` by center; the folder `handed` is one that jobs of all centers may read and write."""
        self.bus_gb_s = bus_gb_s
        self.network = Network()
        self.handed = self.network.folder / "handed"
        self.handed.mkdir()
        self.handed.chmod(0o777)
        self.programs = self.network.folder / "programs"
        self.programs.mkdir()
        for file in ("bin/fathom-probe", "bin/fathom-stage", "bin/fathom-operator-host", "bin/training_loop",
                     "standin_gpu/libnvidia-ml.so.1", "standin_gpu/fathom-operators-cuda.so", "standin_driver/libcuda.so.1"):
            shutil.copy(BIN.parent / file, self.programs)
        self.slow_products = build_slow_products(self.programs, 8)
        cores = sorted(os.sched_getaffinity(0))
        try:
            for name, core in zip(bus_gb_s, (cores[0], cores[-1])):
                self.add_center(name, core)
        except BaseException:
            self.network.close()
            raise

    @staticmethod
    def gpus_of(center):
        return [f"GPU-{center}-{number}" for number in (0, 1)]

    def add_center(self, name, core):
        gpus = self.programs / f"gpus-{name}"
        gpus.write_text("".join(f"gpu\t{gpu}\tStand-in\t{64 * MIB}\n" for gpu in self.gpus_of(name)))
        config = f"""cores = "{core}"
probe_program = "{self.programs / 'fathom-probe'}"
input_folders = "{self.handed}"
output_folders = "{self.handed}"
[environment]
FATHOM_STANDIN_GPUS = "{gpus}"
FATHOM_STANDIN_BUS_GB_S = "{self.bus_gb_s[name]}"
LD_LIBRARY_PATH = "{self.programs}"
LD_PRELOAD = "{self.slow_products}"
[[unit_type]]
name = "gpu"
resource_type = "cuda"
cores_per_unit = 0
memory_bytes_per_unit = 1000000000
[[unit_type]]
name = "core"
unit_count = 1
"""
        # The agent's own look at the machine, too, goes to the stand-ins.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FATHOM_STANDIN_GPUS", str(gpus))
            patch.setenv("LD_LIBRARY_PATH", str(self.programs))
            self.network.add_agent(name, config)

    def training(self, *before):
        """What computes on the GPU that it was handed, through the driver, and checks each word of it."""
        command = " ".join([str(self.programs / "training_loop"), "iterations", "3", "weights-mib", "4", "activations-mib", "16"])
        return ["/bin/sh", "-c", "; ".join([*before, f"exec {command}"])]

    def decide(self, **fields):
        """The place and the decision of a job that says only that it computes: since it fails, nothing is learned of it, and no
        probes of its type are in the way of the next one."""
        job = self.network.submit(command=["/bin/false"], metering_wait_s=0, **{"units": {"count": 1}, **fields})["id"]
        attempt = self.network.wait_job(job)["attempt"]
        found = self.network.rest.get(f"/jobs/{job}/placement")
        assert not check.schema_errors({"$ref": "#/components/schemas/Placement"}, found)
        return f"{attempt['center']}/{attempt['unit_type']}", found["decision"], job
