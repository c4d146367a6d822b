#pragma once

#include "core/base/id.hpp"
#include "core/model/gpu_memory.hpp"

#include <span>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of what jobs kept of their pace beside each other on a GPU (C2, C6). All functions take the caller's
/// transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// Of two kinds of jobs, in their order, on a unit type the newest so many are kept.
inline constexpr std::int64_t kMaxKeptTurnPairs = 16;
/// And of all together.
inline constexpr std::int64_t kMaxTurnPairs = 8192;

/// Keeps what a report says of pairs of jobs that both have a type and run at its center on units of one type; of
/// others nothing: what programs say of their job is their word. A pair that is known already changes when it was
/// measured a quarter more often, so that reports that come every few seconds are few writes.
void keep_gpu_pairs(pqxx::transaction_base& transaction, const CenterId& center,
                    std::span<const MeasuredJobPair> pairs);

/// A job and another that had the turn on a GPU at the same time.
struct PairOfJob {
    std::string neighbour;
    double kept_pace{};           ///< by the job, of its pace alone
    double neighbour_kept_pace{}; ///< by the other
    std::int64_t count{};         ///< times that both were measured
};

/// What is kept of a job at a center beside each of these others, in the order of their ids; nothing of whom nothing
/// is.
std::vector<PairOfJob> select_gpu_pairs_of_job(pqxx::transaction_base& transaction, const CenterId& center,
                                               const std::string& job, std::span<const std::string> others);
Json to_json(const PairOfJob& pair);

} // namespace fathom::server
