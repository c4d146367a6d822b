"""What a soak measured, as RESULT lines with their goals and as a file. Pure but for reading the code of benchmarks."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "bench"))
from figures import Figure, goal_text, read_goals, verdict  # noqa: E402

GOALS = read_goals()["soak"]
GOALS_OF_AGENTS = read_goals()["agents"]


def figures_of(found, growth_pct, acknowledged_per_s, starts, kills):
    """@param growth_pct  None where no process lived long enough
    @param starts      of programs: what the counts of lost and doubled jobs rest on"""
    figures = [Figure("lost", str(len(found.lost)), "jobs"), Figure("doubled", str(len(found.doubled)), "jobs"),
               Figure("untrue", str(len(found.untrue)), "sentences")]
    if growth_pct is not None:
        figures.append(Figure("memory_growth_pct", f"{growth_pct:.1f}", "%"))
    return [*figures, Figure("acknowledged_per_s", f"{acknowledged_per_s:.1f}", "1/s"), Figure("starts", str(starts), "programs"),
            Figure("kills", str(kills), "kills")]


def goal_lines(figures, goals=GOALS):
    by_name = {figure.name: figure for figure in figures}
    for name, goal in goals.items():
        said = verdict(by_name[name], goal) if name in by_name else "not told in this run"
        yield f"GOAL {name} {goal_text(goal)}: {said}"


def all_met(figures, goals=GOALS):
    """What was not told is not missed."""
    return all(verdict(figure, goals[figure.name]) == "met" for figure in figures if figure.name in goals)


def as_markdown(title, figures, sections):
    """@param sections  heading -> lines; a line of a table begins with |"""
    parts = [f"# {title}\n", *(f"{line}\n" for line in ("| figure | value | unit |", "|---|---:|---|"))]
    parts += [f"| {figure.name} | {figure.digits} | {figure.unit} |\n" for figure in figures]
    for heading, lines in sections.items():
        parts.append(f"\n## {heading}\n\n")
        lines = list(lines) or ["None."]
        parts += [f"{line}\n" if line.startswith("|") else f"* {line}\n" for line in lines]
    return "".join(parts)


def timeline_lines(timeline, by_second, step_s):
    """Rates of each stretch of `step_s` seconds, and what was killed and started in it, until nothing happens any more."""
    last_s = max([*by_second, *(one["at_s"] for one in timeline)], default=0)
    yield "| from s | acknowledged per s | no answer | refused | killed and started |"
    yield "|---:|---:|---:|---:|---|"
    for begin_s in range(0, int(last_s) + 1, step_s):
        counts = [by_second[second] for second in range(begin_s, begin_s + step_s) if second in by_second]
        rate = sum(count["acknowledged"] for count in counts) / step_s
        refused = sum(number for count in counts for what, number in count.items() if what.startswith("refused"))
        told = ", ".join(f"{one['part']} {one['what']} at {one['at_s']:.1f}" for one in timeline
                         if begin_s <= one["at_s"] < begin_s + step_s)
        yield f"| {begin_s} | {rate:.0f} | {sum(count['no answer'] for count in counts)} | {refused} | {told} |"
