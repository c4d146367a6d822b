#include "server/metering/trust_store.hpp"

#include "server/metering/curves_store.hpp"

#include <pqxx/pqxx>

namespace fathom::server {

TrustByUnitType current_trust(pqxx::transaction_base& transaction)
{
    return judge_trust(select_residuals(transaction));
}

TrustByUnitType TrustCache::get(pqxx::transaction_base& transaction)
{
    {
        const std::lock_guard lock(mutex_);
        if (judged_at_ && std::chrono::steady_clock::now() - *judged_at_ < lifetime_) return trust_;
    }
    TrustByUnitType fresh = current_trust(transaction); // unlocked: others need not wait for the database
    const std::lock_guard lock(mutex_);
    trust_ = fresh;
    judged_at_ = std::chrono::steady_clock::now();
    return fresh;
}

} // namespace fathom::server
