#include "server/probing/findings/finding_store.hpp"

#include "core/base/log.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/utf8_prefix.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxDetailLength = 4000;

constexpr const char* kInsert = R"sql(
    INSERT INTO probe_finding (center_id, unit_type_id, probe_run_id, kind, detail, evidence)
    SELECT $1, nullif($2, ''), nullif($3, ''), $4, $5, $6::jsonb
    WHERE $3 = '' OR NOT EXISTS (SELECT 1 FROM probe_finding WHERE probe_run_id = $3 AND kind = $4))sql";

constexpr const char* kColumns = R"sql(
    SELECT f.id, f.center_id, coalesce(f.unit_type_id, '') AS unit_type_id, coalesce(f.probe_run_id, '') AS probe_run_id,
           c.name AS center, coalesce(u.name, '') AS unit_type, f.kind, f.detail, f.evidence, f.found_at, f.dismissed_at,
           coalesce(f.dismissed_by, '') AS dismissed_by
    FROM probe_finding f JOIN center c ON c.id = f.center_id LEFT JOIN unit_type u ON u.id = f.unit_type_id)sql";

constexpr const char* kOfList = R"sql(
    WHERE ($1 = '' OR f.center_id = $1 OR c.name = $1) AND ($2 = '' OR f.kind = $2)
      AND ($3 = '' OR (f.dismissed_at IS NULL) = ($3 = 'true')) AND ($4::bigint = 0 OR f.id < $4::bigint)
    ORDER BY f.id DESC LIMIT $5)sql";

constexpr const char* kDismiss = R"sql(
    UPDATE probe_finding SET dismissed_at = now(), dismissed_by = $2 WHERE id = $1 AND dismissed_at IS NULL)sql";

/// 0 for none. Empty when it is no number.
std::optional<std::int64_t> parse_id(const std::string& text)
{
    if (text.empty()) return 0;
    const auto id = parse_number<std::int64_t>(text);
    return id && *id >= 1 ? id : std::nullopt;
}

FindingRecord to_finding(const pqxx::row& row)
{
    return {.id = row["id"].as<std::int64_t>(),
            .place = {{row["center_id"].as<std::string>()},
                      {row["unit_type_id"].as<std::string>()},
                      {row["probe_run_id"].as<std::string>()}},
            .center = row["center"].as<std::string>(),
            .unit_type = row["unit_type"].as<std::string>(),
            .kind = row["kind"].as<std::string>(),
            .detail = row["detail"].as<std::string>(),
            .evidence = to_json_value(row["evidence"]),
            .found_at = to_timestamp(row["found_at"]),
            .dismissed_at = to_optional_timestamp(row["dismissed_at"]),
            .dismissed_by = row["dismissed_by"].as<std::string>()};
}

} // namespace

bool insert_finding(pqxx::transaction_base& transaction, const FindingPlace& place, const Finding& finding)
{
    const std::string detail(utf8_prefix(finding.detail, kMaxDetailLength));
    const std::string kind(to_string(finding.kind));
    const std::string evidence = finding.evidence.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto rows = transaction.exec_params(kInsert, place.center_id.value, place.unit_type_id.value, place.run.value,
                                              kind, detail, evidence);
    if (rows.affected_rows() == 0) return false;
    after_commit([place, kind, detail] {
        log_warning("probe_finding", {{"kind", kind},
                                      {"center_id", place.center_id.value},
                                      {"unit_type_id", place.unit_type_id.value},
                                      {"probe_run_id", place.run.value},
                                      {"detail", detail}});
    });
    return true;
}

Result<Page<FindingRecord>> select_findings(pqxx::transaction_base& transaction, const FindingFilter& filter,
                                            std::int64_t size, const std::string& after)
{
    const std::optional<std::int64_t> before = parse_id(after);
    if (!before) return Error{Errc::kInvalid, "page_token is not one of this list"};
    const std::string is_open = filter.is_open ? (*filter.is_open ? "true" : "false") : "";
    std::vector<FindingRecord> findings;
    for (const pqxx::row& row : transaction.exec_params(std::string(kColumns) + kOfList, filter.center, filter.kind,
                                                        is_open, *before, size + 1))
        findings.push_back(to_finding(row));
    return cut_page(std::move(findings), size, [](const FindingRecord& last) { return std::to_string(last.id); });
}

Result<FindingRecord> select_finding(pqxx::transaction_base& transaction, const std::string& id)
{
    const Error unknown{Errc::kNotFound, "there is no finding " + id};
    const std::optional<std::int64_t> number = parse_id(id);
    if (!number) return unknown;
    const pqxx::result rows = transaction.exec_params(std::string(kColumns) + " WHERE f.id = $1", *number);
    if (rows.empty()) return unknown;
    return to_finding(rows[0]);
}

void dismiss_finding(pqxx::transaction_base& transaction, std::int64_t id, const std::string& actor)
{
    transaction.exec_params(kDismiss, id, actor);
}

Json to_json(const FindingRecord& finding)
{
    return {{"id", std::to_string(finding.id)},
            {"center_id", finding.place.center_id.value},
            {"center", finding.center},
            {"unit_type_id", text_or_null(finding.place.unit_type_id.value)},
            {"unit_type", text_or_null(finding.unit_type)},
            {"probe_run_id", text_or_null(finding.place.run.value)},
            {"kind", finding.kind},
            {"detail", finding.detail},
            {"evidence", finding.evidence},
            {"found_at", format_rfc3339(finding.found_at)},
            {"dismissed_at", time_json(finding.dismissed_at)},
            {"dismissed_by", text_or_null(finding.dismissed_by)}};
}

} // namespace fathom::server
