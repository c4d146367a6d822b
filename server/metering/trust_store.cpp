#include "server/metering/trust_store.hpp"

#include "server/metering/curves_store.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// Findings of one unit type that are counted, the newest: each halves its trust, and older ones are forgiven more.
constexpr std::int64_t kMaxFindings = 100;
/// Results that were found right since a finding are counted up to so many: it weighs nothing any more.
constexpr std::int64_t kMaxRightSince = 200;

// The kinds that cannot come about honestly (FindingKind). Of each unit type, so that one with many hides no other's.
constexpr const char* kSelectFindings = R"sql(
    SELECT f.unit_type_id, (SELECT count(*) FROM (SELECT 1 FROM probe_run r
                            WHERE r.unit_type_id = f.unit_type_id AND r.verification = 'right'
                              AND r.ended_at > f.found_at LIMIT $2) counted) AS right_since
    FROM unit_type u CROSS JOIN LATERAL (
        SELECT o.unit_type_id, o.found_at FROM probe_finding o
        WHERE o.unit_type_id = u.id AND o.dismissed_at IS NULL AND o.kind IN ('checksum', 'clock', 'rate')
        ORDER BY o.id DESC LIMIT $1) f)sql";

constexpr const char* kSelectVerified = R"sql(
    SELECT unit_type_id, count(*) AS results, count(*) FILTER (WHERE verification = 'right') AS right_count,
           count(*) FILTER (WHERE verification = 'wrong') AS wrong_count,
           count(*) FILTER (WHERE verification = 'pending') AS pending_count
    FROM probe_run WHERE state = 'succeeded' GROUP BY unit_type_id)sql";

} // namespace

TrustByUnitType current_trust(pqxx::transaction_base& transaction)
{
    std::vector<TrustFinding> findings;
    for (const pqxx::row& row : transaction.exec_params(kSelectFindings, kMaxFindings, kMaxRightSince))
        findings.push_back({row["unit_type_id"].as<std::string>(), row["right_since"].as<std::int64_t>()});
    return judge_trust(select_residuals(transaction), findings);
}

std::map<std::string, VerifiedResults> select_verified(pqxx::transaction_base& transaction)
{
    std::map<std::string, VerifiedResults> results;
    for (const pqxx::row& row : transaction.exec(kSelectVerified))
        results[row["unit_type_id"].as<std::string>()] = {
            row["results"].as<std::int64_t>(), row["right_count"].as<std::int64_t>(),
            row["wrong_count"].as<std::int64_t>(), row["pending_count"].as<std::int64_t>()};
    return results;
}

Json to_json(const VerifiedResults& results)
{
    return {{"result_count", results.result_count},
            {"right_count", results.right_count},
            {"wrong_count", results.wrong_count},
            {"pending_count", results.pending_count}};
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
