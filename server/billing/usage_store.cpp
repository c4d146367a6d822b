#include "server/billing/usage_store.hpp"

#include "core/base/parse_number.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

#define FATHOM_USAGE_FILTER                                                                                            \
    " FROM usage_record u WHERE ($1 = '' OR project = $1) AND ($2 = '' OR center = $2) AND ($3 = '' OR job_id = $3) "  \
    "AND ($4::timestamptz IS NULL OR until_at >= $4::timestamptz) "                                                    \
    "AND ($5::timestamptz IS NULL OR until_at < $5::timestamptz) "                                                     \
    "AND (NOT $6::boolean OR NOT EXISTS (SELECT 1 FROM usage_record n "                                                \
    "                                    WHERE n.source = u.source AND n.revision > u.revision)) "

// Unprepared on purpose: planned for these values, so that each combination of filters uses its own index.
constexpr const char* kSelectPage = "SELECT u.*, array_to_json(u.units)::text AS unit_list" FATHOM_USAGE_FILTER
                                    "AND ($7::bigint = 0 OR id < $7::bigint) ORDER BY id DESC LIMIT $8";
constexpr const char* kSelectAfter = "SELECT u.*, array_to_json(u.units)::text AS unit_list" FATHOM_USAGE_FILTER
                                     "AND id > $7::bigint ORDER BY id LIMIT $8";

constexpr const char* kSelectBilled = R"sql(
    SELECT c.project, c.currency, sum(c.billed_micros)::bigint AS billed_micros
    FROM usage_record u JOIN charge c ON c.usage_id = u.id
    WHERE c.payer = 'project' AND u.until_at >= $1::timestamptz AND u.until_at < $2::timestamptz
    GROUP BY c.project, c.currency ORDER BY 1, 2)sql";
constexpr Statement kSelectOfIds{"billing_select_usage_of_ids", R"sql(
    SELECT u.*, array_to_json(u.units)::text AS unit_list FROM usage_record u WHERE id = ANY ($1::bigint[]))sql"};
constexpr Statement kCountUsage{"billing_count_usage", R"sql(
    SELECT count(*) AS records, count(*) FILTER (WHERE u.id > h.usage_id) AS unposted FROM usage_record u, ledger_head h)sql"};
constexpr Statement kSelectEvidence{"billing_select_evidence",
                                    "SELECT document::text AS document FROM score_evidence WHERE id = $1"};

UsageRecord to_record(const pqxx::row& row)
{
    const auto number = [&](const char* name) { return row[name].as<std::int64_t>(); };
    const auto text = [&](const char* name) { return row[name].as<std::string>(); };
    UsageRecord record;
    record.id = number("id");
    record.source = text("source");
    record.revision = number("revision");
    record.kind = parse_usage_kind(row["kind"].c_str()).value_or(UsageKind::kCompute);
    record.payer = parse_payer(row["payer"].c_str()).value_or(Payer::kProject);
    record.project = text("project");
    record.submitted_by = text("submitted_by");
    record.job_id = text("job_id");
    record.job_name = text("job_name");
    record.job_type = text("job_type");
    record.attempt_id = text("attempt_id");
    record.probe_run_id = text("probe_run_id");
    record.center = text("center");
    record.unit_type = text("unit_type");
    record.resource_type = text("resource_type");
    record.unit_count = number("unit_count");
    record.units = text("unit_list");
    record.cores_per_unit = number("cores_per_unit");
    record.submitted_at = to_optional_timestamp(row["submitted_at"]);
    record.from = to_timestamp(row["from_at"]);
    record.until = to_timestamp(row["until_at"]);
    record.outcome = text("outcome");
    if (!row["exit_code"].is_null()) record.exit_code = number("exit_code");
    record.cpu_us = number("cpu_us");
    record.max_resident_bytes = number("max_resident_bytes");
    record.moved_bytes = number("moved_bytes");
    record.stored_bytes = number("stored_bytes");
    record.idle_unit_us = number("idle_unit_us");
    record.energy_j = number("energy_j");
    record.score_milli = number("score_milli");
    if (!row["evidence_id"].is_null()) record.evidence_id = text("evidence_id");
    record.recorded_at = to_timestamp(row["recorded_at"]);
    return record;
}

std::vector<UsageRecord> select_records(pqxx::work& transaction, const char* sql, const UsageFilter& filter,
                                        std::int64_t position, std::int64_t most)
{
    std::optional<std::string> from;
    std::optional<std::string> until;
    if (filter.from) from = format_rfc3339(*filter.from);
    if (filter.until) until = format_rfc3339(*filter.until);
    std::vector<UsageRecord> records;
    for (const pqxx::row& row :
         transaction.exec_params(sql, filter.project, filter.center, filter.job_id, from ? from->c_str() : nullptr,
                                 until ? until->c_str() : nullptr, filter.newest_revisions, position, most))
        records.push_back(to_record(row));
    return records;
}

/// The key of a page, which came from us; 0 for none.
std::int64_t to_position(const std::string& after)
{
    return parse_number<std::int64_t>(after).value_or(0);
}

} // namespace

Usage usage_of(const UsageRecord& record)
{
    Usage usage;
    usage.kind = record.kind;
    usage.payer = record.payer;
    usage.project = record.project;
    usage.center = record.center;
    usage.unit_type = record.unit_type;
    usage.unit_count = record.unit_count;
    usage.score_milli = record.score_milli;
    usage.bytes = record.kind == UsageKind::kStorage ? record.stored_bytes : record.moved_bytes;
    usage.idle_unit_us = record.idle_unit_us;
    usage.origin = record.from;
    usage.from = record.from;
    usage.until = record.until;
    return usage;
}

Json to_json(const UsageRecord& record)
{
    const bool is_job = !record.job_id.empty();
    return {
        {"id", record.id},
        {"source", record.source},
        {"revision", record.revision},
        {"kind", to_string(record.kind)},
        {"paid_by", to_string(record.payer)},
        {"project", record.project},
        {"submitted_by", text_or_null(record.submitted_by)},
        {"job_id", text_or_null(record.job_id)},
        {"job_name", is_job ? Json(record.job_name) : Json()},
        {"job_type", text_or_null(record.job_type)},
        {"attempt_id", text_or_null(record.attempt_id)},
        {"probe_run_id", text_or_null(record.probe_run_id)},
        {"center", text_or_null(record.center)},
        {"unit_type", text_or_null(record.unit_type)},
        {"unit_count", record.unit_count},
        {"units", Json::parse(record.units)},
        {"from", format_rfc3339(record.from)},
        {"until", format_rfc3339(record.until)},
        {"outcome", text_or_null(record.outcome)},
        {"cpu_s", static_cast<double>(record.cpu_us) * 1e-6},
        {"moved_bytes", record.moved_bytes},
        {"stored_bytes", record.stored_bytes},
        {"idle_unit_s", static_cast<double>(record.idle_unit_us) * 1e-6},
        {"energy_j", record.energy_j > 0 ? Json(record.energy_j) : Json()},
        {"score", record.kind == UsageKind::kCompute ? Json(static_cast<double>(record.score_milli) * 1e-3) : Json()},
        {"score_evidence_id", text_or_null(record.evidence_id)},
        {"recorded_at", format_rfc3339(record.recorded_at)}};
}

Page<UsageRecord> select_usage_page(pqxx::work& transaction, const UsageFilter& filter, std::int64_t size,
                                    const std::string& after)
{
    return cut_page(select_records(transaction, kSelectPage, filter, to_position(after), size + 1), size,
                    [](const UsageRecord& record) { return std::to_string(record.id); });
}

std::vector<UsageRecord> select_usage_after(pqxx::work& transaction, const UsageFilter& filter, std::int64_t after_id,
                                            std::int64_t most)
{
    return select_records(transaction, kSelectAfter, filter, after_id, most);
}

std::vector<BilledProject> select_billed(pqxx::work& transaction, const UsageFilter& filter)
{
    std::vector<BilledProject> billed;
    for (const pqxx::row& row : transaction.exec_params(kSelectBilled, format_rfc3339(filter.from.value()),
                                                        format_rfc3339(filter.until.value())))
        billed.push_back({row["project"].as<std::string>(), row["currency"].as<std::string>(),
                          row["billed_micros"].as<std::int64_t>()});
    return billed;
}

std::vector<UsageRecord> select_usage_of(pqxx::work& transaction, const std::vector<std::int64_t>& ids)
{
    std::vector<UsageRecord> records;
    for (const pqxx::row& row : exec(transaction, kSelectOfIds, sql_array(ids)))
        records.push_back(to_record(row));
    return records;
}

UsageCounts count_usage(pqxx::work& transaction)
{
    const pqxx::row row = exec(transaction, kCountUsage)[0];
    return {row["records"].as<std::int64_t>(), row["unposted"].as<std::int64_t>()};
}

std::string select_score_evidence(pqxx::work& transaction, const std::string& id)
{
    const pqxx::result rows = exec(transaction, kSelectEvidence, id);
    return rows.empty() ? std::string() : rows[0][0].as<std::string>();
}

} // namespace fathom::server
