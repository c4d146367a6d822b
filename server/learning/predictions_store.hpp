#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/decide/history/wait_history.hpp"
#include "core/decide/prediction/predict_units.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of the table prediction as they are read: what was predicted for attempts, and what came. All functions take
/// the caller's transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// Times in seconds, costs in `currency`.
struct PredictionRecord {
    AttemptId attempt_id;
    JobId job_id;
    std::string owner;   ///< who submitted the job
    std::string project; ///< that it is of
    std::string job_type;
    CenterId center_id;
    std::string center;
    UnitTypeId unit_type_id;
    std::string unit_type;
    std::int64_t unit_count{};
    RunTime raw;           ///< by measurements alone; 0: nothing
    std::string raw_basis; ///< "operators", "reference"
    RunTime run;           ///< 0: nothing was predicted
    double width_factor{1};
    double free_s{};
    WaitTime wait;
    double cost{};
    double energy_j{};    ///< 0: not known
    std::string currency; ///< empty: there were no prices
    Timestamp decided_at{};
    std::optional<double> actual_run_s;
    std::optional<double> actual_wait_s;
    std::optional<double> actual_cost;
    std::optional<Timestamp> ended_at;
    std::string outcome; ///< "succeeded", "failed" or an AttemptOutcome; empty while it lasts
};

struct PredictionFilter {
    std::string unit_type; ///< id, or center/unit type
    std::string center;    ///< id or name
    std::string job_type;
    bool is_ended_only{false};
    JobScope scope{}; ///< of which jobs
};
/// Newest first; `after` is an attempt's id. Empty filters take all.
Page<PredictionRecord> select_predictions(pqxx::transaction_base& transaction, const PredictionFilter& filter,
                                          std::int64_t size, const std::string& after);

/// Of attempts that ended within 90 days, the newest `limit`, newest first.
std::vector<PredictionRecord> select_ended_predictions(pqxx::transaction_base& transaction, std::int64_t limit);

Json to_json(const PredictionRecord& record);

} // namespace fathom::server
