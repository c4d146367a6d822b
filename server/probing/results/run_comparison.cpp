#include "server/probing/results/run_comparison.hpp"

#include "core/decide/prediction/combine_results.hpp"

#include <algorithm>
#include <tuple>

namespace fathom::server {
namespace {

auto group_key(const ComparedResult& one)
{
    return std::tie(one.operator_id, one.operator_version, one.parameters_key, one.unit_count);
}

auto order_key(const ComparedResult& one)
{
    return std::tuple_cat(group_key(one), std::tie(one.median_s, one.center, one.unit_type, one.probe_run_id));
}

double ratio_of(double median_s, double best_s)
{
    return best_s > 0 ? median_s / best_s : 1.0;
}

Json together_json(const MeasuredOperator& one, const MeasuredOperator& best)
{
    return {{"median_s", one.median_s},
            {"ci_low_s", one.ci_low_s},
            {"ci_high_s", one.ci_high_s},
            {"ratio", ratio_of(one.median_s, best.median_s)},
            {"is_tied", one.ci_low_s <= best.ci_high_s},
            {"probe_run_ids", run_ids_of(one)}};
}

/// @param best           of the single results
/// @param best_together  of what several say together: it may be another place's
Json place_json(const ComparedResult& one, const ComparedResult& best, const MeasuredOperator& best_together)
{
    return {{"center", one.center},
            {"unit_type", one.unit_type},
            {"probe_run_id", one.probe_run_id},
            {"median_s", one.median_s},
            {"ci_low_s", one.ci_low_s},
            {"ci_high_s", one.ci_high_s},
            {"ratio", ratio_of(one.median_s, best.median_s)},
            {"is_tied", one.ci_low_s <= best.ci_high_s},
            {"error", one.error},
            {"sample_count", one.sample_count},
            {"together", together_json(one.together, best_together)}};
}

} // namespace

Json compare_results(std::vector<ComparedResult> results)
{
    std::sort(results.begin(), results.end(),
              [](const ComparedResult& a, const ComparedResult& b) { return order_key(a) < order_key(b); });
    Json groups = Json::array();
    for (auto first = results.begin(); first != results.end();) {
        const auto last = std::find_if(first, results.end(),
                                       [&](const ComparedResult& one) { return group_key(one) != group_key(*first); });
        const auto best_together = std::min_element(first, last, [](const ComparedResult& a, const ComparedResult& b) {
            return a.together.median_s < b.together.median_s;
        });
        Json places = Json::array();
        for (auto one = first; one != last; ++one)
            places.push_back(place_json(*one, *first, best_together->together));
        groups.push_back({{"operator_id", first->operator_id},
                          {"operator_version", first->operator_version},
                          {"parameters", first->parameters},
                          {"unit_count", first->unit_count},
                          {"places", std::move(places)}});
        first = last;
    }
    return groups;
}

} // namespace fathom::server
