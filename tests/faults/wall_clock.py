"""Wall clocks of single processes, which a test moves while this machine's goes on as it did."""
import pathlib
import struct
import subprocess


def build_moved_clock(folder):
    """The library that is preloaded for a WallClock."""
    library = folder / "moved_clock.so"
    source = pathlib.Path(__file__).with_name("moved_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", source, "-o", library], check=True)
    return library


class WallClock:
    """What the processes that are started with its environment take for the time. Steady clocks are not moved."""

    def __init__(self, library, file):
        self.library, self.file = library, file
        self.move(0)
        self.file.chmod(0o644)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(self.library), "FATHOM_MOVED_CLOCK": str(self.file)}

    def move(self, ahead_s):
        """From now on it is so many seconds ahead of this machine's clock, or behind it."""
        mode = "r+b" if self.file.exists() else "wb"  # in place: processes have the file mapped
        with open(self.file, mode, buffering=0) as file:
            file.write(struct.pack("=q", ahead_s))
