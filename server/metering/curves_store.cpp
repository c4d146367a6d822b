#include "server/metering/curves_store.hpp"

#include "server/rows/operator_loads.hpp"
#include "server/rows/timed_transfers.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <map>
#include <utility>

namespace fathom::server {
namespace {

// DISTINCT ON in the order of the index measurement_newest.
constexpr const char* kSelectCounts = R"sql(
    SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type, n.operator_id,
           n.parameters_key, (array_agg(n.parameters ORDER BY n.unit_count))[1] AS parameters,
           json_agg(json_build_array(n.unit_count, 1 / n.median_s) ORDER BY n.unit_count) AS points,
           max(n.measured_at) AS measured_at
    FROM (SELECT DISTINCT ON (unit_type_id, unit_count, operator_id, parameters_key) *
          FROM measurement m WHERE void_reason = ''
            AND NOT EXISTS (SELECT 1 FROM operator_in_use v WHERE v.id = m.operator_id AND v.version <> m.operator_version)
          ORDER BY unit_type_id, unit_count, operator_id, parameters_key, measured_at DESC) n
         JOIN unit_type u ON u.id = n.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE ($1 = '' OR c.id = $1 OR c.name = $1) AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2)
      AND ($3 = '' OR n.operator_id = $3) AND (u.id, n.operator_id, n.parameters_key) > ($4, $5, $6)
    GROUP BY c.id, u.id, n.operator_id, n.parameters_key
    HAVING count(*) >= 2
    ORDER BY u.id, n.operator_id, n.parameters_key LIMIT $7)sql";

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
    SELECT unit_type_id, job_type || chr(10) || promise_basis AS job_type, promised_s, actual_run_s
    FROM run_prediction
    WHERE ended_at > now() - interval '90 days' AND outcome = 'succeeded' AND job_type <> '' AND promised_s > 0
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

MeasuredCounts to_counts(const pqxx::row& row)
{
    MeasuredCounts counts{to_place(row),
                          row["operator_id"].as<std::string>(),
                          row["parameters_key"].as<std::string>(),
                          to_json_value(row["parameters"]),
                          {},
                          to_timestamp(row["measured_at"])};
    for (const Json& point : to_json_value(row["points"]))
        counts.points.push_back({point[0].get<double>(), point[1].get<double>()});
    return counts;
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
    std::vector<MeasuredCounts> found;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectCounts, filter.center, filter.unit_type, filter.operator_id, key->unit_type_id,
                                 key->operator_id, key->parameters_key, size + 1))
        found.push_back(to_counts(row));
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
                             row["promised_s"].as<double>(), row["actual_run_s"].as<double>()});
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
