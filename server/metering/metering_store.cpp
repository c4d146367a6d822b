#include "server/metering/metering_store.hpp"

#include "core/base/log_limit.hpp"
#include "core/base/parse_number.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

constexpr const char* kSelectPolicies = R"sql(
    SELECT id, version, document, active, created_at, created_by FROM metric_policy
    WHERE id > $1 OR (id = $1 AND version < $2) ORDER BY id, version DESC LIMIT $3)sql";

constexpr const char* kSelectPolicy = R"sql(
    SELECT id, version, document, active, created_at, created_by FROM metric_policy
    WHERE id = $1 AND ($2::bigint = 0 OR version = $2) ORDER BY version DESC LIMIT 1)sql";

constexpr const char* kSelectActivePolicy =
    "SELECT id, version, document, active, created_at, created_by FROM metric_policy WHERE active";

// Readers go on.
constexpr const char* kLockPolicies = "LOCK TABLE metric_policy IN SHARE ROW EXCLUSIVE MODE";

constexpr const char* kInsertPolicy =
    "INSERT INTO metric_policy (id, version, document, created_by) VALUES ($1, $2, $3::jsonb, $4)";

constexpr const char* kDeactivate = "UPDATE metric_policy SET active = false WHERE active";
constexpr const char* kActivate = "UPDATE metric_policy SET active = true WHERE id = $1 AND version = $2";

/// Empty for what a newer replica wrote or what is broken, of which a line in the log tells: the other policies serve.
std::optional<PolicyRecord> to_policy(const pqxx::row& row)
{
    // Perhaps written by a release with fewer rules.
    Result<MetricPolicy> policy = parse_metric_policy(to_json_value(row["document"]), PolicyRules::kShape);
    if (!policy) {
        log_limited("metric_policy_unreadable", {{"policy", row["id"].as<std::string>()},
                                                 {"version", row["version"].as<std::int64_t>()},
                                                 {"error", describe(policy.error())}});
        return std::nullopt;
    }
    policy->version = row["version"].as<std::int64_t>();
    return PolicyRecord{std::move(*policy), row["active"].as<bool>(), to_timestamp(row["created_at"]),
                        row["created_by"].as<std::string>()};
}

std::optional<PolicyRecord> first_policy(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_policy(rows[0]);
}

std::optional<PolicyHead> first_head(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return PolicyHead{rows[0]["id"].as<std::string>(), rows[0]["version"].as<std::int64_t>(),
                      rows[0]["created_by"].as<std::string>()};
}

} // namespace

Page<PolicyRecord> select_policies(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    const std::size_t cut = std::min(after.rfind('@'), after.size());
    const auto version =
        parse_number<std::int64_t>(std::string_view(after).substr(std::min(cut + 1, after.size()))).value_or(0);
    const pqxx::result rows = transaction.exec_params(kSelectPolicies, after.substr(0, cut), version, size + 1);
    return page_of_readable(rows, size, to_policy, [](const pqxx::row& row) {
        return row["id"].as<std::string>() + "@" + row["version"].as<std::string>();
    });
}

std::optional<PolicyRecord> select_policy(pqxx::transaction_base& transaction, const std::string& id,
                                          std::int64_t version)
{
    return first_policy(transaction.exec_params(kSelectPolicy, id, version));
}

std::optional<PolicyRecord> select_active_policy(pqxx::transaction_base& transaction)
{
    return first_policy(transaction.exec(kSelectActivePolicy));
}

std::optional<PolicyHead> select_newest_head(pqxx::transaction_base& transaction, const std::string& id)
{
    return first_head(transaction.exec_params(kSelectPolicy, id, 0));
}

std::optional<PolicyHead> select_active_head(pqxx::transaction_base& transaction)
{
    return first_head(transaction.exec(kSelectActivePolicy));
}

void lock_policies(pqxx::transaction_base& transaction)
{
    transaction.exec(kLockPolicies);
}

void insert_policy(pqxx::transaction_base& transaction, const MetricPolicy& policy, const std::string& created_by)
{
    transaction.exec_params(kInsertPolicy, policy.id, policy.version, to_json(policy).dump(), created_by);
}

void activate_policy(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version)
{
    // In this order: at no time may two be active.
    transaction.exec(kDeactivate);
    transaction.exec_params(kActivate, id, version);
}

PolicyLookup policy_lookup(pqxx::transaction_base& transaction)
{
    return [&transaction](const std::string& id, std::int64_t version) -> std::optional<MetricPolicy> {
        std::optional<PolicyRecord> record = select_policy(transaction, id, version);
        if (!record) return std::nullopt;
        return std::move(record->policy);
    };
}

Result<PolicyRecord> find_policy(pqxx::transaction_base& transaction, const std::string& text)
{
    const auto refuse = [](std::string detail) {
        return Error{Errc::kInvalid, "the request has 1 error", {{"policy", std::move(detail)}}};
    };
    std::optional<PolicyRecord> record;
    if (text.empty())
        record = select_active_policy(transaction);
    else if (const auto reference = parse_policy_reference(text))
        record = select_policy(transaction, reference->id, reference->version);
    if (!record) return refuse("is not a metric policy, id or id@version");
    Result<MetricPolicy> resolved = resolve_policy(record->policy, policy_lookup(transaction));
    if (!resolved) return refuse("cannot score: " + resolved.error().fields.at(0).detail);
    record->policy = std::move(*resolved);
    return std::move(*record);
}

Json to_json(const PolicyRecord& record)
{
    return {{"id", record.policy.id},
            {"version", record.policy.version},
            {"document", to_json(record.policy)},
            {"active", record.active},
            {"created_at", format_rfc3339(record.created_at)},
            {"created_by", record.created_by}};
}

} // namespace fathom::server
