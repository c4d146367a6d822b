"""A share of processor time, by control groups."""
import os
import pathlib
import sys


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
