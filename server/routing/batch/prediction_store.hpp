#pragma once

#include "core/base/id.hpp"
#include "core/decide/routing/route.hpp"
#include "server/store/transaction.hpp"

#include <span>
#include <string>

/// Rows of the table prediction as placements write them: what was predicted for each attempt of a user's job. Whoever
/// ends the attempt completes its row (server/jobs/attempts_store.cpp).
namespace fathom::server {

/// What a placement let expect. Times in seconds; where nothing was predicted they are 0.
struct NewPrediction {
    AttemptId attempt_id; ///< empty until the attempt is made
    JobId job_id;
    std::string job_type;
    UnitTypeId unit_type_id;
    std::int64_t unit_count{1};
    std::int64_t asked_s{}; ///< how long its submitter had said that it runs at most; 0: not said
    RunTime raw; ///< by measurements alone; 0 for a job that moves data itself: its actual time does not tell them
                 ///< apart
    RawBasis basis{RawBasis::kOperators}; ///< of the raw prediction
    RunTime run;                          ///< with transfers but those of staging, corrected
    double transfers_s{};                 ///< of `run`, what a job that moves data itself moves it in
    double width_factor{1};               ///< of the interval of `run` (RunCorrection)
    double free_s{};                      ///< until its units are free
    WaitTime start;                       ///< until it runs
    double cost{};
    double energy_j{};               ///< 0: not known
    std::string currency;            ///< empty: there are no prices
    std::optional<MemoryUse> memory; ///< what the job does to memory, and memory to it; empty: not known
    // Both are in `raw`.
    double host_slowdown{1}; ///< of the run over that alone on its host
    double gpu_slowdown{1};  ///< of the run over that on a GPU of its own
};

/// Of a placement at `winner`.
/// @param queued_s  what the center's own queue held before it.
/// @param asked_s   how long its submitter said that it runs at most (asked_limit_s).
NewPrediction make_prediction(const Candidate& winner, const RouteRequest& request, const JobId& job,
                              std::int64_t asked_s, double queued_s, std::string currency);

/// Adds the rows; their attempts must be there. Not for probes, which nobody learns from as jobs. Blocks; pqxx's
/// exceptions pass through.
void insert_predictions(pqxx::work& transaction, std::span<const NewPrediction> predictions);

} // namespace fathom::server
