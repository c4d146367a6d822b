#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/model/operator_manifest.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// What one run measured of one operator, and what the newest results of its place say with it.
struct ComparedResult {
    std::string operator_id;
    std::int64_t operator_version{1};
    Json parameters;            ///< the asked size
    std::string parameters_key; ///< the same as text
    std::int64_t unit_count{1};
    std::string center;
    std::string unit_type;
    std::string probe_run_id;
    double median_s{};
    double ci_low_s{}; ///< of the median, 95 %
    double ci_high_s{};
    double error{};
    std::int64_t sample_count{};
    /// The newest results of the same operator, version and size on as many units of the type, taken together
    /// (combine_results). The run is not among them where they tell of a change since, or where there are many newer.
    MeasuredOperator together;
};

/// The standardized comparison (M12): for each operator at its size and each count of units, the places by median time.
/// `ratio` is a place's median by the best one's; `is_tied` says that its interval and the best one's overlap, so that
/// the order of the two may be chance. `together` says the same of the newest results of each place, by the best of
/// these: its interval holds the spread between results, so that a difference within that is a tie (M17). Pure.
/// @return [{operator_id, operator_version, parameters, unit_count, places: [{center, unit_type, probe_run_id,
///         median_s, ci_low_s, ci_high_s, ratio, is_tied, error, sample_count, together: {median_s, ci_low_s,
///         ci_high_s, ratio, is_tied, probe_run_ids}}]}], by operator, size and count; places by their own median.
Json compare_results(std::vector<ComparedResult> results);

} // namespace fathom::server
