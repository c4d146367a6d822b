#include "server/metering/metering_store.hpp"

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

PolicyRecord to_policy(const pqxx::row& row)
{
    // Written by us after it was checked, so it reads; perhaps by a release with fewer rules.
    PolicyRecord record{parse_metric_policy(to_json_value(row["document"]), PolicyRules::kShape).value(),
                        row["active"].as<bool>(), to_timestamp(row["created_at"]), row["created_by"].as<std::string>()};
    record.policy.version = row["version"].as<std::int64_t>();
    return record;
}

std::optional<PolicyRecord> first_policy(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_policy(rows[0]);
}

} // namespace

Page<PolicyRecord> select_policies(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    const std::size_t cut = std::min(after.rfind('@'), after.size());
    const auto version =
        parse_number<std::int64_t>(std::string_view(after).substr(std::min(cut + 1, after.size()))).value_or(0);
    std::vector<PolicyRecord> policies;
    for (const pqxx::row& row : transaction.exec_params(kSelectPolicies, after.substr(0, cut), version, size + 1))
        policies.push_back(to_policy(row));
    return cut_page(std::move(policies), size, [](const PolicyRecord& record) {
        return record.policy.id + "@" + std::to_string(record.policy.version);
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
