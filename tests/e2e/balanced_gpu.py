"""A center whose agent balances a GPU (R10): the agent and its loop are real, NVIDIA's library is a strict stand-in that says what
a test wants."""
import os
import shutil

import pytest

from network import BIN, wait_until

GPU = "GPU-00000000-5555-6666-7777-888888888888"
LINK_KB_PER_S = 984_600  # of one lane of generation 3


class BalancedGpu:
    """A GPU named gpu0 in the settings of the center's [balance]."""

    def __init__(self, network, name="alpha", dry_run=True, period_s=0.2, server=None):
        self.network, self.name = network, name
        self.programs = network.folder / f"gpu-{name}"
        self.programs.mkdir()
        for file in ("bin/fathom-probe", "bin/fathom-operator-host", "standin_gpu/libnvidia-ml.so.1",
                     "standin_gpu/fathom-operators-cuda.so"):
            shutil.copy(BIN.parent / file, self.programs)
        self.gpus = self.programs / "gpus"
        self.clocks = self.programs / "clocks"
        self.clocks.touch()
        self.be_busy(transfer=0.95, load=0.40)
        config = f"""cores = "{sorted(os.sched_getaffinity(0))[0]}"
probe_program = "{self.programs / 'fathom-probe'}"
[environment]
FATHOM_STANDIN_GPUS = "{self.gpus}"
LD_LIBRARY_PATH = "{self.programs}"
[balance]
enabled = true
dry_run = {"true" if dry_run else "false"}
period_s = {period_s}
actuators = ["clock"]
[[balance.unit]]
name = "gpu0"
device = "{GPU}"
[[unit_type]]
name = "gpu"
resource_type = "cuda"
cores_per_unit = 0
memory_bytes_per_unit = 1000000
"""
        # The agent's own look at the machine, too, goes to the stand-in.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FATHOM_STANDIN_GPUS", str(self.gpus))
            patch.setenv("FATHOM_STANDIN_CLOCKS", str(self.clocks))
            patch.setenv("LD_LIBRARY_PATH", str(self.programs))
            self.agent = network.add_agent(name, config, server)

    def be_busy(self, transfer, load):
        """The link and the GPU, 0 to 1."""
        line = ["gpu", GPU, "Stand-in", 8 << 30, int(LINK_KB_PER_S * transfer), 0, int(100 * load), 3, 1, 300, 1500]
        new = self.gpus.with_suffix(".new")
        new.write_text("\t".join(map(str, line)) + "\n")
        new.rename(self.gpus)

    def run_job(self, rest=None):
        """One that has the GPU until it is cancelled."""
        job = self.network.submit(rest, name="on-gpu", command=["sleep", "600"], units={"type": "gpu", "count": 1, "center": self.name})["id"]
        wait_until(lambda: self.network.job(job)["state"] == "running", 120, "the job running")
        return job

    def steps(self, query="", rest=None):
        return (rest or self.network.rest).get(f"/centers/{self.name}/units/gpu0/balance{query}")["items"]

    def wait_for_steps(self, count=1):
        def enough():
            found = (self.network.rest.items(f"/balanced-units?center={self.name}") and self.steps(f"?page_size={max(count, 1)}"))
            return found if found and len(found) >= count else None
        return wait_until(enough, 120, f"{count} steps of the loop")
