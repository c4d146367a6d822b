"""What the benchmark of predictions says of drawn runs."""
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from prediction_report import Outcome, naive_over_ours_where_places_differ, report  # noqa: E402


def outcome(rung, predicted_s, actual_s, center="older", **naive):
    row = {"predicted": {"run_s": predicted_s, "low_s": 0.9 * predicted_s, "high_s": 1.1 * predicted_s},
           "actual_run_s": actual_s}
    return Outcome("zstd", center, rung, row, {name.replace("_", " "): value for name, value in naive.items()})


FIRST = [outcome("first", 10.1, 10, same_time=10, by_DGEMM=14), outcome("first", 20.4, 20, same_time=10, by_DGEMM=22),
         outcome("first", 19, 20, same_time=10, by_DGEMM=18)]


def test_only_where_places_differ_by_a_fifth_predictions_have_to_be_much_better():
    # Ours are 2 and 5 % off there, the same time 50, DGEMM's ratio 10 %.
    assert abs(naive_over_ours_where_places_differ(FIRST) - 10 / 3.5) < 1e-9
    assert naive_over_ours_where_places_differ(FIRST[:1]) is None


def test_each_rung_is_held_against_its_best_naive_predictor(capsys):
    again = [outcome("again", 10.6, 10, "reference", same_time=10.2), outcome("again", 10.4, 10, "reference", same_time=10.2)]
    places = [types.SimpleNamespace(name=name) for name in ("reference", "older")]
    report(types.SimpleNamespace(outcomes=FIRST + again, places=places, profiling_pct=[1, 2, 30]))
    results = dict(line.split()[1:3] for line in capsys.readouterr().out.splitlines() if line.startswith("RESULT"))

    assert results["over_naive_again"] == "2.50"
    assert results["over_naive_first"] == "0.20"
    assert results["worst_over_naive"] == "2.50"
    assert results["new_place_median_error_pct"] == "2.0"
    assert results["in_interval_pct_first"] == results["in_interval_pct_again"] == results["in_interval_pct"] == "100.0"
    assert results["profiling_median_cost_pct"] == "2.0"
    assert results["naive_over_ours_where_places_differ"] == "2.86"
