#pragma once

#include "core/decide/prediction/speedup_coefficients.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// What is known for the model of CPU or GPU (spec 2). All functions take the caller's transaction, block, and let
/// pqxx's exceptions through to Database::run.
namespace fathom::server {

/// A center with its unit types and their measurements of one operator and of compression on one unit. Empty: there is
/// no such center.
/// @param center  id or name.
std::optional<MeasuredCenter> select_measured_center(pqxx::transaction_base& transaction, const std::string& center,
                                                     const std::string& operator_id);

/// How jobs of one type went on one kind of unit of a center, against their raw predictions: medians over the jobs
/// of the last 90 days that succeeded.
struct DeviceAccuracy {
    std::string center_id;
    std::string center;
    std::string resource_type;
    std::string job_type; ///< empty: none was named
    std::int64_t job_count{};
    double raw_s{};
    double actual_s{};
    double ratio{}; ///< actual / raw prediction, of each job
};
/// In order of center id, job type and resource type. `after` is a key of such a page.
/// @param center  id or name; empty: all.
/// @error kInvalid  `after` is not such a key.
Result<Page<DeviceAccuracy>> select_device_accuracy(pqxx::transaction_base& transaction, const std::string& center,
                                                    std::int64_t size, const std::string& after);

/// The same over all job types of one center.
struct DeviceRuns {
    bool is_device{false}; ///< else CPU
    std::int64_t job_count{};
    double ratio{};
};
std::vector<DeviceRuns> select_device_runs(pqxx::transaction_base& transaction, const std::string& center);

Json to_json(const DeviceAccuracy& accuracy);

} // namespace fathom::server
