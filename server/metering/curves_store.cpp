#include "server/metering/curves_store.hpp"

#include "core/decide/prediction/combine_results.hpp"
#include "server/rows/newest_results.hpp"
#include "server/rows/operator_loads.hpp"
#include "server/rows/timed_transfers.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::server {
namespace {

// The counts of a page of curves first, then the newest results of each.
constexpr const char* kSelectCounts = R"sql(
    WITH paged AS MATERIALIZED (
        SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type, p.operator_id,
               p.parameters_key, p.operator_version, array_agg(p.unit_count) AS unit_counts
        FROM unit_type u JOIN center c ON c.id = u.center_id
             CROSS JOIN LATERAL )sql" FATHOM_MEASURED_PLACES("u.id", "$3::text") R"sql( p
        WHERE ($1 = '' OR c.id = $1 OR c.name = $1) AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2)
          AND (u.id, p.operator_id, p.parameters_key) > ($4, $5, $6) AND u.id >= $4
          AND EXISTS (SELECT 1 FROM measurement m WHERE m.unit_type_id = u.id AND m.unit_count > 1 AND m.void_reason = '')
          AND )sql" FATHOM_IS_IN_USE("u.id", "p") R"sql(
        GROUP BY c.id, u.id, p.operator_id, p.parameters_key, p.operator_version
        HAVING count(*) >= 2
        ORDER BY u.id, p.operator_id, p.parameters_key LIMIT $7::bigint)
    SELECT r.*, paged.center_id, paged.center, paged.unit_type
    FROM paged CROSS JOIN LATERAL (
             SELECT n.unit_count, paged.operator_id, paged.parameters_key, paged.operator_version
             FROM unnest(paged.unit_counts) AS n (unit_count)) p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("paged.unit_type_id", "p", "$8::bigint") R"sql( r
    ORDER BY r.unit_type_id, r.operator_id, r.parameters_key, r.unit_count, r.newness)sql";

constexpr const char* kSelectPlaces = R"sql(
    SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type
    FROM unit_type u JOIN center c ON c.id = u.center_id WHERE u.id = ANY ($1::text[]))sql";

constexpr const char* kSelectFetchingTypes = R"sql(
    SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type
    FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE ($1 = '' OR c.id = $1 OR c.name = $1) AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2)
      AND u.id > $3 AND EXISTS (SELECT 1 FROM measurement m
                                WHERE m.unit_type_id = u.id AND m.operator_id = $4 AND m.void_reason = '')
    ORDER BY u.id LIMIT $5)sql";

// What measurements alone let expect: what is corrected by history would hide a center that is always slower. It is 0
// for jobs that move data, how fast the network was says nothing of the units, and for those of which not all was
// measured.
constexpr const char* kSelectResiduals = R"sql(
    SELECT unit_type_id, job_type || chr(10) || raw_prediction_basis AS job_type, raw_prediction_s, actual_run_s
    FROM prediction
    WHERE ended_at > now() - interval '90 days' AND outcome = 'succeeded' AND job_type <> '' AND raw_prediction_s > 0
      AND actual_run_s > 0
    ORDER BY ended_at DESC LIMIT 5000)sql";

constexpr const char* kSelectNames = R"sql(
    SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type
    FROM unit_type u JOIN center c ON c.id = u.center_id ORDER BY c.name, u.name)sql";

UnitTypeName to_place(const pqxx::row& row)
{
    return {row["center_id"].as<std::string>(), row["center"].as<std::string>(), row["unit_type_id"].as<std::string>(),
            row["unit_type"].as<std::string>()};
}

/// Without points.
MeasuredCounts to_counts(const pqxx::row& row)
{
    return {to_place(row),
            row["operator_id"].as<std::string>(),
            row["parameters_key"].as<std::string>(),
            to_json_value(row["parameters"]),
            {},
            to_timestamp(row["measured_at"])};
}

/// Whether the row is of the same unit type, operator and size.
bool is_of(const MeasuredCounts& counts, const pqxx::row& row)
{
    return counts.place.unit_type_id == row["unit_type_id"].as<std::string>() &&
           counts.operator_id == row["operator_id"].as<std::string>() &&
           counts.parameters_key == row["parameters_key"].as<std::string>();
}

/// Adds the point that the results of one place make.
void add_point(std::span<const pqxx::row> newest_first, std::vector<MeasuredCounts>& found)
{
    const pqxx::row& newest = newest_first.front();
    if (found.empty() || !is_of(found.back(), newest)) found.push_back(to_counts(newest));
    MeasuredCounts& counts = found.back();
    const MeasuredOperator measured = combine_rows(newest_first);
    counts.points.push_back({newest["unit_count"].as<double>(), 1 / measured.median_s});
    counts.measured_at = std::max(counts.measured_at, measured.measured_at);
}

struct CountsKey {
    std::string unit_type_id;
    std::string operator_id;
    std::string parameters_key;
};

std::string key_of(const MeasuredCounts& counts)
{
    return Json{counts.place.unit_type_id, counts.operator_id, counts.parameters_key}.dump();
}

Result<CountsKey> parse_key(const std::string& after)
{
    if (after.empty()) return CountsKey{};
    const Json json = Json::parse(after, nullptr, false);
    bool good = json.is_array() && json.size() == 3 && !contains_nul(json);
    for (std::size_t i = 0; good && i < 3; ++i)
        good = json[i].is_string();
    if (!good) return Error{Errc::kInvalid, "the page_token is not one of this list"};
    return CountsKey{json[0], json[1], json[2]};
}

/// Unit type and operator.
Result<std::pair<std::string, std::string>> parse_loads_key(const std::string& after)
{
    if (after.empty()) return std::pair<std::string, std::string>();
    const Json json = Json::parse(after, nullptr, false);
    if (!json.is_array() || json.size() != 2 || contains_nul(json) || !json[0].is_string() || !json[1].is_string())
        return Error{Errc::kInvalid, "the page_token is not one of this list"};
    return std::pair(json[0].get<std::string>(), json[1].get<std::string>());
}

} // namespace

Result<Page<MeasuredLoads>> select_measured_loads(pqxx::transaction_base& transaction, const CurveFilter& filter,
                                                  std::int64_t size, const std::string& after)
{
    const Result<std::pair<std::string, std::string>> key = parse_loads_key(after);
    if (!key) return key.error();
    const std::vector<OperatorLoads> rows = select_operator_loads(transaction, {.center = filter.center,
                                                                                .unit_type = filter.unit_type,
                                                                                .operator_id = filter.operator_id,
                                                                                .after_unit_type = key->first,
                                                                                .after_operator = key->second,
                                                                                .limit = size + 1});
    SqlArray ids;
    for (const OperatorLoads& one : rows)
        ids.add(one.unit_type_id);
    std::map<std::string, UnitTypeName> places;
    for (const pqxx::row& row : transaction.exec_params(kSelectPlaces, ids.take()))
        places.emplace(row["unit_type_id"].as<std::string>(), to_place(row));
    std::vector<MeasuredLoads> found;
    for (const OperatorLoads& one : rows)
        found.push_back({places.at(one.unit_type_id), one.operator_id, one.results, one.copies, one.measured_at});
    return cut_page(std::move(found), size, [](const MeasuredLoads& loads) {
        return Json{loads.place.unit_type_id, loads.operator_id}.dump();
    });
}

Result<Page<MeasuredCounts>> select_measured_counts(pqxx::transaction_base& transaction, const CurveFilter& filter,
                                                    std::int64_t size, const std::string& after)
{
    const Result<CountsKey> key = parse_key(after);
    if (!key) return key.error();
    const pqxx::result rows =
        transaction.exec_params(kSelectCounts, filter.center, filter.unit_type, filter.operator_id, key->unit_type_id,
                                key->operator_id, key->parameters_key, size + 1, kMaxResults);
    std::vector<MeasuredCounts> found;
    for_each_place(rows, [&found](std::span<const pqxx::row> place) { add_point(place, found); });
    return cut_page(std::move(found), size, key_of);
}

Page<TimedTransfers> select_transfers(pqxx::transaction_base& transaction, const CurveFilter& filter, std::int64_t size,
                                      const std::string& after)
{
    std::vector<TimedTransfers> found;
    for (const pqxx::row& row : transaction.exec_params(kSelectFetchingTypes, filter.center, filter.unit_type, after,
                                                        kFetchOperator, size + 1))
        found.push_back({to_place(row), {}});
    Page<TimedTransfers> page =
        cut_page(std::move(found), size, [](const TimedTransfers& one) { return one.place.unit_type_id; });
    for (TimedTransfers& one : page.items)
        one.samples = select_timed_transfers(transaction, one.place.unit_type_id);
    return page;
}

std::vector<RunResidual> select_residuals(pqxx::transaction_base& transaction)
{
    std::vector<RunResidual> residuals;
    for (const pqxx::row& row : transaction.exec(kSelectResiduals))
        residuals.push_back({row["unit_type_id"].as<std::string>(), row["job_type"].as<std::string>(),
                             row["raw_prediction_s"].as<double>(), row["actual_run_s"].as<double>()});
    return residuals;
}

std::vector<UnitTypeName> select_unit_type_names(pqxx::transaction_base& transaction)
{
    std::vector<UnitTypeName> names;
    for (const pqxx::row& row : transaction.exec(kSelectNames))
        names.push_back(to_place(row));
    return names;
}

Json to_json(const UnitTypeName& place)
{
    return {{"center_id", place.center_id},
            {"center", place.center},
            {"unit_type_id", place.unit_type_id},
            {"unit_type", place.unit_type}};
}

} // namespace fathom::server
