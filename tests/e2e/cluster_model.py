"""A cluster of vGPUs as arithmetic, as core/decide/balance/unit_model has it: a process that reads what the actuators of an agent's
loop have set, and writes what its sensor reads. In its folder:
vgpus   how many there are: by the program that moves sub-units
clocks  what the driver was told of the clock: by the stand-in of NVIDIA's library
work    by the test: TOPS asked for at 1.0 GHz, and the clock in MHz that the driver allows at most
gpus    what the stand-in says of the link, the load and the range of the clock
states  a line of JSON for each state that the cluster was in while it had work"""
import json
import os
import pathlib
import sys
import time

BASE_MHZ = 1000
TOPS_PER_VGPU = 100  # at 1.0 GHz, in int8
LINK_KB_PER_S = 984_600  # of one lane of generation 3


def text_of(path):
    return path.read_text() if path.exists() else ""


def clock_of(changes):
    """After what the driver was told; before, the administrator has locked it."""
    last = changes.split("\n")[-2].split() if "\n" in changes else []
    return int(last[3]) if last and last[0] == "lock" else BASE_MHZ


def state_of(vgpus, clock_mhz, link_tops, work_tops):
    """Clock raises compute and transfer demand alike; power is proportional to it."""
    clock = clock_mhz / BASE_MHZ
    peak = vgpus * TOPS_PER_VGPU * clock
    tops = min(peak, link_tops, work_tops * clock)
    return {"vgpus": vgpus, "clock_mhz": clock_mhz, "link": tops / link_tops, "load": tops / peak if peak else 0, "tops": tops,
            "watts": vgpus * clock}


def run(folder, gpu, link_tops):
    shown, test = None, os.getppid()
    states = (folder / "states").open("a")
    while os.getppid() == test:
        work_tops, most_mhz = map(float, (folder / "work").read_text().split())
        state = state_of(int(text_of(folder / "vgpus") or 0), clock_of(text_of(folder / "clocks")), link_tops, work_tops)
        if (state, most_mhz) != shown:
            is_new = shown is None or state != shown[0]
            shown = (state, most_mhz)
            line = ["gpu", gpu, "Stand-in", 8 << 30, round(LINK_KB_PER_S * state["link"]), 0, round(100 * state["load"]), 3, 1,
                    BASE_MHZ, int(most_mhz)]
            new = folder / "gpus.new"
            new.write_text("\t".join(map(str, line)) + "\n")
            new.rename(folder / "gpus")
            if is_new and state["tops"]:
                states.write(json.dumps(state) + "\n")
                states.flush()
        time.sleep(0.01)


if __name__ == "__main__":
    run(pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
