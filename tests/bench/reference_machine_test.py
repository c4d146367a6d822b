"""The reference figures of relative-v1 are what a machine can do: more work of an operator takes no less time."""
import collections
import json
import pathlib

POLICY = pathlib.Path(__file__).resolve().parents[2] / "server/metering/policies/relative-v1.json"
NOISE = 0.95  # of two sizes that are nearly alike the larger may come out so much quicker


def out_of_order(figures):
    """Sizes that take less time than a size of the same operator with less work: (operator, smaller size, larger size)."""
    by_operator = collections.defaultdict(list)
    for figure in figures:
        by_operator[figure["operator"]].append(figure)
    wrong = []
    for operator, sizes in by_operator.items():
        sizes.sort(key=lambda one: one.get("operations") or one["bytes"])
        wrong += [(operator, smaller["parameters"], larger["parameters"]) for smaller, larger in zip(sizes, sizes[1:])
                  if larger["median_s"] < NOISE * smaller["median_s"]]
    return wrong


def test_more_work_takes_no_less_time():
    assert out_of_order(json.loads(POLICY.read_text())["reference"]) == []


def test_a_delayed_acknowledgement_is_found():
    figures = [{"operator": "network_fetch", "parameters": {"bytes": size}, "bytes": size, "median_s": seconds}
               for size, seconds in ((4096, 0.0439), (65536, 0.000278), (1048576, 0.000711))]
    assert out_of_order(figures) == [("network_fetch", {"bytes": 4096}, {"bytes": 65536})]
