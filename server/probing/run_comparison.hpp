#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/operator_manifest.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// What one run measured of one operator.
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
};

/// The standardized comparison (M12): for each operator at its size and each count of units, the places by median time.
/// `ratio` is a place's median by the best one's; `is_tied` says that its interval and the best one's overlap, so that
/// the order of the two may be chance. Pure.
/// @return [{operator_id, operator_version, parameters, unit_count, places: [{center, unit_type, probe_run_id,
/// median_s,
///         ci_low_s, ci_high_s, ratio, is_tied, error, sample_count}]}], by operator, size and count.
Json compare_results(std::vector<ComparedResult> results);

} // namespace fathom::server
