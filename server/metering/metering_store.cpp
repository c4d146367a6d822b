#include "server/metering/metering_store.hpp"

#include "server/store/column.hpp"
#include "server/store/measured_operator.hpp"

#include <pqxx/pqxx>

#include <charconv>

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

// DISTINCT ON in the order of the index measurement_newest; the page is cut from the newest only.
constexpr const char* kSelectMeasurements = R"sql(
    SELECT * FROM (
        SELECT DISTINCT ON (m.unit_type_id, m.unit_count, m.operator_id, m.parameters_key)
               m.*, c.id AS center_id, c.name AS center, u.name AS unit_type
        FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN center c ON c.id = u.center_id
        WHERE ($1 = '' OR c.id = $1 OR c.name = $1)
          AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2)
          AND ($3 = '' OR m.operator_id = $3) AND m.void_reason = ''
        ORDER BY m.unit_type_id, m.unit_count, m.operator_id, m.parameters_key, m.measured_at DESC) newest
    WHERE (center, unit_type, operator_id, parameters_key, unit_count) > ($4, $5, $6, $7, $8::bigint)
    ORDER BY center, unit_type, operator_id, parameters_key, unit_count LIMIT $9)sql";

PolicyRecord to_policy(const pqxx::row& row)
{
    // Written by us after it was checked, so it reads; perhaps by a release with fewer rules.
    PolicyRecord record{parse_metric_policy(to_json_value(row["document"]), PolicyRules::kShape).value(),
                        row["active"].as<bool>(),
                        to_timestamp(row["created_at"]), row["created_by"].as<std::string>()};
    record.policy.version = row["version"].as<std::int64_t>();
    return record;
}

std::optional<PolicyRecord> first_policy(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_policy(rows[0]);
}

MeasurementRecord to_measurement(const pqxx::row& row)
{
    return {.center_id = row["center_id"].as<std::string>(),
            .center = row["center"].as<std::string>(),
            .unit_type_id = row["unit_type_id"].as<std::string>(),
            .unit_type = row["unit_type"].as<std::string>(),
            .measured = to_measured_operator(row),
            .operator_version = row["operator_version"].as<std::int64_t>(),
            .parameters = to_json_value(row["parameters"]),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .spread = row["spread"].as<double>(),
            .sample_count = row["sample_count"].as<std::int64_t>(),
            .outlier_count = row["outlier_count"].as<std::int64_t>(),
            .precision = row["precision"].as<std::string>(),
            .library = row["library"].as<std::string>()};
}

/// What a page of measurements goes on after; five empty parts before the first.
struct MeasurementKey {
    std::string center;
    std::string unit_type;
    std::string operator_id;
    std::string parameters_key;
    std::int64_t unit_count{0};
};

std::string key_of(const MeasurementRecord& record)
{
    return Json{record.center, record.unit_type, record.measured.operator_id, record.measured.parameters_key,
                record.unit_count}
        .dump();
}

Result<MeasurementKey> parse_key(const std::string& after)
{
    if (after.empty()) return MeasurementKey{};
    const Json json = Json::parse(after, nullptr, false);
    bool good = json.is_array() && json.size() == 5 && json[4].is_number_integer() && !contains_nul(json);
    for (std::size_t i = 0; good && i < 4; ++i)
        good = json[i].is_string();
    if (!good) return Error{Errc::kInvalid, "the page_token is not one of this list"};
    return MeasurementKey{json[0], json[1], json[2], json[3], json[4].get<std::int64_t>()};
}

} // namespace

Page<PolicyRecord> select_policies(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    const std::size_t cut = std::min(after.rfind('@'), after.size());
    std::int64_t version = 0;
    std::from_chars(after.data() + std::min(cut + 1, after.size()), after.data() + after.size(), version);
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

Result<Page<MeasurementRecord>> select_measurements(pqxx::transaction_base& transaction,
                                                    const MeasurementFilter& filter, std::int64_t size,
                                                    const std::string& after)
{
    const Result<MeasurementKey> key = parse_key(after);
    if (!key) return key.error();
    std::vector<MeasurementRecord> records;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectMeasurements, filter.center, filter.unit_type, filter.operator_id, key->center,
                                 key->unit_type, key->operator_id, key->parameters_key, key->unit_count, size + 1))
        records.push_back(to_measurement(row));
    return cut_page(std::move(records), size, key_of);
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
