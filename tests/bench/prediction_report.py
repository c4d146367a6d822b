"""What the runs of tests/bench/prediction come to: errors by rung, beside those of naive predictors."""
import math
import statistics

LEAST_ERROR_PCT = 0.1  # smaller errors are as good as none: ratios of them would say nothing
DIFFERENT = 1.2


class Outcome:
    """One run against what was predicted for it."""

    def __init__(self, program, center, rung, row, naive):
        self.program, self.center, self.rung = program, center, rung
        self.predicted, self.actual, self.naive = row["predicted"], row["actual_run_s"], naive

    def error_pct(self, predicted=None):
        value = self.predicted["run_s"] if predicted is None else predicted
        return 100 * abs(value - self.actual) / self.actual

    def is_inside(self):
        return self.predicted["low_s"] <= self.actual <= self.predicted["high_s"]


def ninetieth(values):
    return statistics.quantiles(values, n=10, method="inclusive")[-1] if len(values) > 1 else values[0]


def naive_errors(outcomes):
    """naive predictor -> its median error"""
    return {kind: statistics.median(o.error_pct(o.naive[kind]) for o in outcomes if kind in o.naive)
            for kind in outcomes[0].naive}


def errors_of(outcomes):
    """@return our median error and that of the best naive predictor"""
    return statistics.median(o.error_pct() for o in outcomes), min(naive_errors(outcomes).values())


def report_rung(name, outcomes):
    """@return the median error over that of the best naive predictor"""
    ours = [o.error_pct() for o in outcomes]
    naive = naive_errors(outcomes)
    inside = 100 * sum(o.is_inside() for o in outcomes) / len(outcomes)
    print(f"{name:<22} n {len(outcomes):>3}   median {statistics.median(ours):>5.1f} %   p90 {ninetieth(ours):>5.1f} %   "
          f"in interval {inside:>3.0f} %   " + ", ".join(f"{kind} {error:.1f} %" for kind, error in naive.items()))
    return statistics.median(ours) / max(min(naive.values()), LEAST_ERROR_PCT)


def naive_over_ours_where_places_differ(first_runs):
    """Of first runs of programs that take more than a fifth longer or shorter there than where they were profiled: the
    median error of the best naive predictor over ours. None: there are no such runs."""
    differing = [o for o in first_runs if abs(math.log(o.actual / o.naive["same time"])) > math.log(DIFFERENT)]
    if not differing:
        return None
    ours, best = errors_of(differing)
    print(f"{'where places differ':<22} n {len(differing):>3}   median {ours:>5.1f} %   best naive {best:.1f} %")
    return best / max(ours, LEAST_ERROR_PCT)


def report(measured):
    by_rung = {}
    for outcome in measured.outcomes:
        by_rung.setdefault(outcome.rung, []).append(outcome)
    print()
    over = {rung: report_rung(rung, outcomes) for rung, outcomes in by_rung.items()}
    for place in measured.places[1:]:
        chosen = [o for o in by_rung.get("first", []) if o.center == place.name]
        if chosen:
            report_rung(f"first, {place.name}", chosen)
    figures = []
    if first := by_rung.get("first"):
        errors = [o.error_pct() for o in first]
        figures += [("new_place_median_error_pct", statistics.median(errors)),
                    ("new_place_p90_error_pct", ninetieth(errors))]
    if second := by_rung.get("second"):
        figures.append(("second_run_median_error_pct", statistics.median(o.error_pct() for o in second)))
    if loaded := by_rung.get("loaded"):
        figures.append(("loaded_median_error_pct", statistics.median(o.error_pct() for o in loaded)))
    figures.append(("in_interval_pct", 100 * sum(o.is_inside() for o in measured.outcomes) / len(measured.outcomes)))
    if measured.profiling_pct:
        figures.append(("profiling_median_cost_pct", statistics.median(measured.profiling_pct)))
    figures += [(f"in_interval_pct_{rung}", 100 * sum(o.is_inside() for o in outcomes) / len(outcomes))
                for rung, outcomes in by_rung.items()]
    for name, value in figures:
        print(f"RESULT {name} {value:.1f} percent")
    for rung, ratio in over.items():
        print(f"RESULT over_naive_{rung} {ratio:.2f} ratio")
    print(f"RESULT worst_over_naive {max(over.values()):.2f} ratio")
    ratio = naive_over_ours_where_places_differ(by_rung.get("first", []))
    if ratio is None:
        print("no first run takes more than a fifth longer or shorter than where its program was profiled")
    else:
        print(f"RESULT naive_over_ours_where_places_differ {ratio:.2f} ratio")
