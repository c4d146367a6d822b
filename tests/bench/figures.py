"""What benchmarks measured: lines `RESULT <figure> <value> <unit>`, held against the goals in goals.json."""
import dataclasses
import json
import pathlib
import re

HERE = pathlib.Path(__file__).parent
RESULT = re.compile(r"^RESULT (\S+) (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?) (\S+)$")


@dataclasses.dataclass(frozen=True)
class Figure:
    """One figure of a benchmark; `digits` is the value as it was printed."""
    name: str
    digits: str
    unit: str

    @property
    def value(self):
        return float(self.digits)


def read_figure(line):
    """The figure of a RESULT line; None for any other. ValueError for a RESULT line of another form."""
    if not line.startswith("RESULT "):
        return None
    match = RESULT.match(line.rstrip("\n"))
    if not match:
        raise ValueError(f"not `RESULT <figure> <value> <unit>`: {line.rstrip()}")
    return Figure(*match.groups())


def read_goals():
    """benchmark -> figure -> {"at_most": x}, {"at_least": x} or {"between": [low, high]}."""
    return json.loads((HERE / "goals.json").read_text())


def goal_text(goal):
    if "between" in goal:
        return "{:g} to {:g}".format(*goal["between"])
    return f"at most {goal['at_most']:g}" if "at_most" in goal else f"at least {goal['at_least']:g}"


def shortfall(figure, goal):
    """How far the figure is from its goal, in its unit; 0 when the goal is met."""
    low, high = goal.get("between", (goal.get("at_least", float("-inf")), goal.get("at_most", float("inf"))))
    return max(low - figure.value, figure.value - high, 0)


def verdict(figure, goal):
    """`met`, or by how much it was missed."""
    missing = shortfall(figure, goal)
    if missing == 0:
        return "met"
    goal_value = goal["between"][figure.value > goal["between"][1]] if "between" in goal else next(iter(goal.values()))
    times = max(figure.value / goal_value, goal_value / figure.value) if figure.value > 0 and goal_value > 0 else None
    return f"MISSED by {missing:.3g} {figure.unit}" + (f" ({times:.2f} times)" if times else "")
