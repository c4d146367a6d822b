"""What a run of tests/load/agents measured, as figures. Pure."""
import collections
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "bench"))
from figures import Figure  # noqa: E402


def core_pct(before_s, after_s, lasted_s):
    return 100 * (after_s - before_s) / lasted_s


def percentile(values, share):
    """The smallest value that at least this share of all does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


class Dispatches:
    """When jobs were submitted, and when agents were ordered to start them."""

    def __init__(self, submitted, ordered):
        """@param submitted  job -> seconds
        @param ordered  (job, seconds) of each order, of other jobs, too"""
        self.submitted = submitted
        self.ordered = collections.defaultdict(list)
        for job, at_s in ordered:
            if job in submitted:
                self.ordered[job].append(at_s)

    def delays_s(self):
        return [min(at_s) - self.submitted[job] for job, at_s in self.ordered.items()]

    def wrong(self):
        if missing := len(self.submitted) - len(self.ordered):
            yield f"{missing} of {len(self.submitted)} jobs were ordered nowhere"
        if twice := sum(len(at_s) > 1 for at_s in self.ordered.values()):
            yield f"{twice} jobs were ordered to start more than once"


def figures_of(measured, wrong):
    """@param measured  memory_kib (of each agent), server_pct, postgres_pct (of a core), dispatch_s (of each job), connect_s, back_s, stop_s
    @param wrong  sentences on what went wrong"""
    delays_s = measured["dispatch_s"]
    figures = [Figure("memory_per_agent_kib", f"{measured['memory_kib']:.1f}", "KiB"),
               Figure("heartbeats_core_pct", f"{measured['server_pct'] + measured['postgres_pct']:.1f}", "%"),
               Figure("heartbeats_fathomd_core_pct", f"{measured['server_pct']:.1f}", "%")]
    if delays_s:
        figures += [Figure("dispatch_p50_ms", f"{1e3 * percentile(delays_s, 0.5):.1f}", "ms"),
                    Figure("dispatch_p99_ms", f"{1e3 * percentile(delays_s, 0.99):.1f}", "ms")]
    return [*figures, Figure("connect_s", f"{measured['connect_s']:.1f}", "s"), Figure("back_s", f"{measured['back_s']:.1f}", "s"),
            Figure("stop_s", f"{measured['stop_s']:.1f}", "s"), Figure("wrong", str(len(wrong)), "sentences")]
