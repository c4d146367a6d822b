#pragma once

#include "core/decide/trust/trust.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// The trust in unit types, from rows. Functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

/// By unit type's id: from jobs that have run, and from open findings. Unit types without any evidence are missing:
/// they are trusted.
using TrustByUnitType = std::map<std::string, Trust>;

/// Judged anew from all that is known now; reads thousands of jobs.
TrustByUnitType current_trust(pqxx::transaction_base& transaction);

/// How much of a unit type's results the metascheduler has computed itself.
struct VerifiedResults {
    std::int64_t result_count{}; ///< probe runs that succeeded
    std::int64_t right_count{};
    std::int64_t wrong_count{};
    std::int64_t pending_count{};
};
/// By unit type's id, those with results.
std::map<std::string, VerifiedResults> select_verified(pqxx::transaction_base& transaction);

Json to_json(const VerifiedResults& results);

/// Keeps the last judgement for some seconds, so that a list that multiplies by trust does not judge at every page.
/// Thread-safe: two callers may judge at once, and both are right.
class TrustCache {
  public:
    /// @param lifetime  0: judged at every call, for tests.
    explicit TrustCache(std::chrono::milliseconds lifetime) : lifetime_(lifetime) {}

    TrustByUnitType get(pqxx::transaction_base& transaction);

  private:
    using Moment = std::chrono::steady_clock::time_point;

    std::chrono::milliseconds lifetime_;
    std::mutex mutex_;
    TrustByUnitType trust_;
    std::optional<Moment> judged_at_;
};

} // namespace fathom::server
