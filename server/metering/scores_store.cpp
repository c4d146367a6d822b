#include "server/metering/scores_store.hpp"

#include "core/decide/prediction/combine_results.hpp"
#include "server/rows/newest_results.hpp"
#include "server/rows/operator_mix.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// A page of places first, then the newest results of each. Every unit type that is chosen has a place, but for the
// first: the page before may have ended with its last. So $9 + 1 of them make a page of $9.
constexpr const char* kSelectMeasurements = R"sql(
    WITH chosen AS MATERIALIZED (
        SELECT c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type
        FROM unit_type u JOIN center c ON c.id = u.center_id
        WHERE ($1 = '' OR c.id = $1 OR c.name = $1) AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2)
          AND (c.name, u.name) >= ($4, $5)
          AND EXISTS (SELECT 1 FROM )sql" FATHOM_MEASURED_PLACES("u.id", "$3::text") R"sql( p
                      WHERE )sql" FATHOM_IS_IN_USE("u.id", "p") R"sql()
        ORDER BY c.name, u.name LIMIT $9::bigint + 1),
    paged AS MATERIALIZED (
        SELECT chosen.*, p.*
        FROM chosen CROSS JOIN LATERAL )sql" FATHOM_MEASURED_PLACES("chosen.unit_type_id", "$3::text") R"sql( p
        WHERE )sql" FATHOM_IS_IN_USE("chosen.unit_type_id", "p") R"sql(
          AND (chosen.center, chosen.unit_type, p.operator_id, p.parameters_key, p.unit_count) > ($4, $5, $6, $7, $8::bigint)
        ORDER BY chosen.center, chosen.unit_type, p.operator_id, p.parameters_key, p.unit_count LIMIT $9::bigint)
    SELECT r.*, paged.center_id, paged.center, paged.unit_type
    FROM paged CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("paged.unit_type_id", "paged", "$10::bigint") R"sql( r
    ORDER BY paged.center, paged.unit_type, r.operator_id, r.parameters_key, r.unit_count, r.newness)sql";

constexpr const char* kHasUnitType = R"sql(
    SELECT EXISTS (SELECT FROM unit_type u JOIN center c ON c.id = u.center_id
                   WHERE u.id = $1 OR c.name || '/' || u.name = $1))sql";

constexpr const char* kSelectVersion = R"sql(
    SELECT coalesce((SELECT version FROM operator_in_use WHERE id = $1),
                    (SELECT max(operator_version) FROM measurement WHERE operator_id = $1 AND void_reason = ''),
                    0) AS version)sql";

// From the unit type by its runs (index probe_run_of_unit_type) to what they measured (primary key): what was found to
// be false is in no other index.
constexpr const char* kSelectHistory = R"sql(
    SELECT m.*, c.id AS center_id, c.name AS center, u.name AS unit_type
    FROM unit_type u JOIN center c ON c.id = u.center_id JOIN probe_run r ON r.unit_type_id = u.id
         JOIN measurement m ON m.probe_run_id = r.id AND m.unit_type_id = u.id
    WHERE (u.id = $1 OR c.name || '/' || u.name = $1) AND m.operator_id = $2 AND m.operator_version = $3::bigint
      AND ($4 = '' OR m.parameters_key = $4) AND ($5::bigint = 0 OR m.unit_count = $5::bigint)
      AND m.measured_at >= coalesce(nullif($6::text, '')::timestamptz, '-infinity')
      AND m.measured_at < coalesce(nullif($7::text, '')::timestamptz, 'infinity')
      AND (m.measured_at, m.probe_run_id, m.parameters_key)
          < (coalesce(nullif($8::text, '')::timestamptz, 'infinity'), $9::text, $10::text)
    ORDER BY m.measured_at DESC, m.probe_run_id DESC, m.parameters_key DESC LIMIT $11::bigint)sql";

constexpr const char* kSelectPlaces = R"sql(
    SELECT g.name AS group_name, c.id AS center_id, c.name AS center, u.id AS unit_type_id, u.name AS unit_type
    FROM unnest($1::text[]) AS g (name) CROSS JOIN unit_type u JOIN center c ON c.id = u.center_id
    WHERE u.active AND c.revoked_at IS NULL AND ($2 = '' OR c.id = $2 OR c.name = $2)
      AND ($3 = '' OR u.id = $3 OR c.name || '/' || u.name = $3) AND (g.name, c.name, u.name) > ($4, $5, $6)
    ORDER BY g.name, c.name, u.name LIMIT $7)sql";

constexpr const char* kCountPlaces = R"sql(
    SELECT count(*) FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE u.active AND c.revoked_at IS NULL AND ($1 = '' OR c.id = $1 OR c.name = $1)
      AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2))sql";

constexpr const char* kSelectUnitMeasurements = R"sql(
    SELECT r.unit_type_id, r.operator_id, r.parameters_key, r.operations, r.bytes, r.median_s, r.ci_low_s, r.ci_high_s, r.error,
           r.tolerance, r.start_up_s, r.probe_run_id, r.measured_at, r.cache_verdict, r.newness
    FROM unnest($1::text[]) AS u (id) CROSS JOIN LATERAL )sql" FATHOM_MEASURED_PLACES("u.id", "''") R"sql( p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("u.id", "p", "$2") R"sql( r
    WHERE p.unit_count = 1 AND )sql" FATHOM_IS_IN_USE("u.id", "p") R"sql(
    ORDER BY r.unit_type_id, r.operator_id, r.parameters_key, r.newness)sql";

// The library is small; each of its operators is looked up in the index measurement_of_operator.
constexpr const char* kSelectMeasuredOperators = R"sql(
    SELECT o.id FROM operator_in_use o
    WHERE EXISTS (SELECT 1 FROM measurement m WHERE m.operator_id = o.id AND m.operator_version = o.version
                                                AND m.void_reason = ''))sql";

constexpr const char* kSelectDiversity = R"sql(
    SELECT o.id, count(*) AS unit_types
    FROM unit_type_support s JOIN unit_type u ON u.id = s.unit_type_id JOIN center c ON c.id = u.center_id
         CROSS JOIN unnest(s.operators) AS o (id)
    WHERE u.active AND c.revoked_at IS NULL AND o.id = ANY ($1::text[]) GROUP BY o.id)sql";

constexpr const char* kSelectMixes = R"sql(
    SELECT DISTINCT ON (name) name, mix FROM job_type WHERE name >= $1 AND ($2 = '' OR name = $2)
    ORDER BY name, learned_at DESC LIMIT $3)sql";

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
            .library = row["library"].as<std::string>(),
            .void_reason = row["void_reason"].as<std::string>()};
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

/// What a page of a history goes on after; three empty parts before the first.
struct HistoryKey {
    std::string measured_at;
    std::string probe_run_id;
    std::string parameters_key;
};

std::string history_key_of(const MeasurementRecord& record)
{
    const MeasuredOperator& measured = record.measured;
    return Json{format_rfc3339(measured.measured_at), measured.probe_run_id, measured.parameters_key}.dump();
}

Result<HistoryKey> parse_history_key(const std::string& after)
{
    if (after.empty()) return HistoryKey{};
    const Json json = Json::parse(after, nullptr, false);
    bool good = json.is_array() && json.size() == 3 && !contains_nul(json);
    for (std::size_t i = 0; good && i < 3; ++i)
        good = json[i].is_string();
    if (!good || !parse_rfc3339(json[0].get_ref<const std::string&>()))
        return Error{Errc::kInvalid, "the page_token is not one of this list"};
    return HistoryKey{json[0], json[1], json[2]};
}

std::string text_of(const std::optional<Timestamp>& time)
{
    return time ? format_rfc3339(*time) : std::string();
}

/// What a page of places goes on after; three empty parts before the first.
struct PlaceKey {
    std::string name;
    std::string center;
    std::string unit_type;
};

Result<PlaceKey> parse_place_key(const std::string& after)
{
    if (after.empty()) return PlaceKey{};
    const Json json = Json::parse(after, nullptr, false);
    bool good = json.is_array() && json.size() == 3 && !contains_nul(json);
    for (std::size_t i = 0; good && i < 3; ++i)
        good = json[i].is_string();
    if (!good) return Error{Errc::kInvalid, "the page_token is not one of this list"};
    return PlaceKey{json[0], json[1], json[2]};
}

} // namespace

Result<Page<MeasurementRecord>> select_measurements(pqxx::transaction_base& transaction,
                                                    const MeasurementFilter& filter, std::int64_t size,
                                                    const std::string& after)
{
    const Result<MeasurementKey> key = parse_key(after);
    if (!key) return key.error();
    const pqxx::result rows = transaction.exec_params(kSelectMeasurements, filter.center, filter.unit_type,
                                                      filter.operator_id, key->center, key->unit_type, key->operator_id,
                                                      key->parameters_key, key->unit_count, size + 1, kMaxResults);
    std::vector<MeasurementRecord> records;
    for_each_place(rows, [&records](std::span<const pqxx::row> place) {
        records.push_back(to_measurement(place.front()));
        records.back().measured = combine_rows(place);
    });
    return cut_page(std::move(records), size, key_of);
}

bool has_unit_type(pqxx::transaction_base& transaction, const std::string& unit_type)
{
    return transaction.exec_params1(kHasUnitType, unit_type)[0].as<bool>();
}

std::int64_t version_to_follow(pqxx::transaction_base& transaction, const std::string& operator_id)
{
    return transaction.exec_params1(kSelectVersion, operator_id)[0].as<std::int64_t>();
}

Result<Page<MeasurementRecord>> select_history(pqxx::transaction_base& transaction, const HistoryFilter& filter,
                                               std::int64_t version, std::int64_t size, const std::string& after)
{
    const Result<HistoryKey> key = parse_history_key(after);
    if (!key) return key.error();
    std::vector<MeasurementRecord> records;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectHistory, filter.unit_type, filter.operator_id, version, filter.parameters_key,
                                 filter.unit_count.value_or(0), text_of(filter.since), text_of(filter.until),
                                 key->measured_at, key->probe_run_id, key->parameters_key, size + 1))
        records.push_back(to_measurement(row));
    return cut_page(std::move(records), size, history_key_of);
}

Result<Page<NamedPlace>> select_places(pqxx::transaction_base& transaction, std::span<const std::string> names,
                                       const MeasurementFilter& filter, std::int64_t size, const std::string& after)
{
    const Result<PlaceKey> key = parse_place_key(after);
    if (!key) return key.error();
    std::vector<NamedPlace> places;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectPlaces, sql_array(names), filter.center, filter.unit_type, key->name,
                                 key->center, key->unit_type, size + 1))
        places.push_back({row["group_name"].as<std::string>(),
                          {row["center_id"].as<std::string>(), row["center"].as<std::string>(),
                           row["unit_type_id"].as<std::string>(), row["unit_type"].as<std::string>()}});
    return cut_page(std::move(places), size,
                    [](const NamedPlace& one) { return Json{one.name, one.place.center, one.place.unit_type}.dump(); });
}

std::string name_to_go_on_with(const std::string& after)
{
    const Result<PlaceKey> key = parse_place_key(after);
    return key ? key->name : std::string();
}

std::int64_t count_places(pqxx::transaction_base& transaction, const MeasurementFilter& filter)
{
    return transaction.exec_params1(kCountPlaces, filter.center, filter.unit_type)[0].as<std::int64_t>();
}

std::map<std::string, std::vector<MeasuredOperator>> select_unit_measurements(pqxx::transaction_base& transaction,
                                                                              std::span<const std::string> unit_types)
{
    const pqxx::result rows = transaction.exec_params(kSelectUnitMeasurements, sql_array(unit_types), kMaxResults);
    std::map<std::string, std::vector<MeasuredOperator>> measured;
    for_each_place(rows, [&measured](std::span<const pqxx::row> place) {
        measured[place.front()["unit_type_id"].as<std::string>()].push_back(combine_rows(place));
    });
    return measured;
}

std::set<std::string> select_measured_operators(pqxx::transaction_base& transaction)
{
    std::set<std::string> operators;
    for (const pqxx::row& row : transaction.exec(kSelectMeasuredOperators))
        operators.insert(row["id"].as<std::string>());
    return operators;
}

std::map<std::string, std::int64_t> select_diversity(pqxx::transaction_base& transaction,
                                                     std::span<const std::string> operators)
{
    std::map<std::string, std::int64_t> diversity;
    for (const pqxx::row& row : transaction.exec_params(kSelectDiversity, sql_array(operators)))
        diversity[row["id"].as<std::string>()] = row["unit_types"].as<std::int64_t>();
    return diversity;
}

std::map<std::string, OperatorMix> select_mixes(pqxx::transaction_base& transaction, const std::string& from,
                                                const std::string& name, std::int64_t most)
{
    std::map<std::string, OperatorMix> mixes;
    for (const pqxx::row& row : transaction.exec_params(kSelectMixes, from, name, most)) {
        const auto job_type = row["name"].as<std::string>();
        // Without a mix the type stays in the list, which is cut by names, and has no score.
        mixes[job_type] = read_mix(to_json_value(row["mix"]), job_type).value_or(OperatorMix());
    }
    return mixes;
}

} // namespace fathom::server
