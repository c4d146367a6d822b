"""Whether a process grows: what the samples of its memory say. Pure."""
import dataclasses
import statistics

SHORTEST_TELLING_S = 120  # of a lifetime under load: in less a process is still warming up
FEWEST_SAMPLES = 20


@dataclasses.dataclass
class Lifetime:
    """One process from its start to its end, or to the end of the load."""
    part: str
    pid: int
    samples: list = dataclasses.field(default_factory=list)  # (seconds, resident KiB), about one a second

    @property
    def lasted_s(self):
        return self.samples[-1][0] - self.samples[0][0]

    @property
    def tells(self):
        return len(self.samples) >= FEWEST_SAMPLES and self.lasted_s >= SHORTEST_TELLING_S

    def quarter_kib(self, number):
        """The median of the samples of the first (0) to the last (3) quarter."""
        size = len(self.samples) // 4
        begin = len(self.samples) - (4 - number) * size
        return statistics.median(kib for _, kib in self.samples[begin:begin + size])

    @property
    def growth_pct(self):
        """Of the last quarter over the second, the first being warm-up; None: too short to tell."""
        return 100 * (self.quarter_kib(3) / self.quarter_kib(1) - 1) if self.tells else None


def worst_growth_pct(lifetimes):
    """Of all that were long enough; None when there is none."""
    return max((one.growth_pct for one in lifetimes if one.tells), default=None)


def describe(lifetimes):
    """A sentence for each lifetime that tells something, the worst first, and one for all the others."""
    told = sorted((one for one in lifetimes if one.tells), key=lambda one: -one.growth_pct)
    for one in told:
        yield (f"{one.part} (process {one.pid}): {one.growth_pct:+.1f} % in {one.lasted_s:.0f} s, by quarters "
               + ", ".join(f"{one.quarter_kib(number) / 1024:.1f}" for number in range(4)) + " MiB")
    if len(told) < len(lifetimes):
        yield f"{len(lifetimes) - len(told)} lifetimes were shorter than {SHORTEST_TELLING_S} s: too short to tell"
