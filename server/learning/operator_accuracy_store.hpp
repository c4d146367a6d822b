#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of operator_outcome as they are read: what operators of profiled runs took, against what was predicted. All
/// functions take the caller's transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// How one operator went on one unit type. Times in seconds of the threads that called it.
struct OperatorAccuracy {
    std::string center_id;
    std::string center;
    std::string unit_type_id;
    std::string unit_type;
    std::string resource_type; ///< "cpu", "cuda"
    std::string operator_id;
    std::int64_t run_count{};      ///< profiled runs
    std::int64_t size_count{};     ///< sizes in them
    std::int64_t compared_count{}; ///< sizes of runs that were predicted
    std::int64_t measured_count{}; ///< of these, those that had been measured at that very size
    std::int64_t unknown_count{};  ///< sizes of runs of which nothing was measured there
    // Of what was predicted; empty: nothing was.
    std::optional<double> predicted_s;  ///< of all together
    std::optional<double> actual_s;     ///< of all together
    std::optional<double> median_ratio; ///< of actual / predicted
    std::optional<double> within_share; ///< of what came inside its 80 % interval
    double similarity{1};               ///< of calls to the operator, the mean by time
};

struct OperatorAccuracyFilter {
    std::string operator_id;
    std::string unit_type; ///< id, or center/unit type
    std::string center;    ///< id or name
};
/// Of the newest 20 000 sizes in runs that ended within 90 days; in order of center, unit type and operator.
std::vector<OperatorAccuracy> select_operator_accuracy(pqxx::transaction_base& transaction,
                                                       const OperatorAccuracyFilter& filter);

Json to_json(const OperatorAccuracy& one);

} // namespace fathom::server
