#include "server/catalog/catalog_measurements.hpp"

#include "core/decide/prediction/combine_results.hpp"
#include "server/catalog/catalog_curves.hpp"
#include "server/catalog/device_facts.hpp"
#include "server/rows/newest_results.hpp"
#include "server/rows/operator_loads.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::server {
namespace {

constexpr const char* kSelectOperatorsInUse = "SELECT id, version FROM operator_in_use";

constexpr const char* kSelectChanges = "SELECT unit_type_id, version FROM measurement_change";

// Of every version: another one than that in use is another operator.
constexpr const char* kSelectMeasurements = R"sql(
    SELECT r.unit_type_id, r.unit_count, r.operator_id, r.operator_version, r.parameters_key, r.operations, r.bytes, r.median_s, r.ci_low_s, r.ci_high_s, r.error,
           r.tolerance, r.start_up_s, r.probe_run_id, r.measured_at, r.cache_verdict, r.one_thread_median_s, r.one_thread_ci_low_s, r.one_thread_ci_high_s, r.newness
    FROM unnest($1::text[]) AS u (id) CROSS JOIN LATERAL )sql" FATHOM_MEASURED_PLACES("u.id", "''") R"sql( p
         CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("u.id", "p", "$2") R"sql( r
    ORDER BY r.unit_type_id, r.unit_count, r.operator_id, r.parameters_key, r.operator_version, r.newness)sql";

MeasurementVersions select_versions(pqxx::work& transaction)
{
    MeasurementVersions versions;
    for (const pqxx::row& row : transaction.exec(kSelectOperatorsInUse))
        versions.operators_in_use[row["id"].as<std::string>()] = row["version"].as<std::int64_t>();
    for (const pqxx::row& row : transaction.exec(kSelectChanges))
        versions.unit_types[row["unit_type_id"].as<std::string>()] = row["version"].as<std::int64_t>();
    return versions;
}

/// Whether measurements of the unit type mean what they meant then.
bool is_same_unit(const UnitTypeView& a, const UnitTypeView& b)
{
    return a.resource_type == b.resource_type && a.cores_per_unit == b.cores_per_unit && a.bus_gb == b.bus_gb;
}

/// Those that share the lists of the previous catalog get them; gives where the others stand, by id. One list for what
/// is the same is also how the router knows that nothing has changed (RouteColumns).
std::unordered_map<std::string_view, std::size_t> keep_unchanged(CatalogSnapshot& catalog,
                                                                 const CatalogSnapshot& previous)
{
    const MeasurementVersions& now = catalog.measurement_versions;
    const MeasurementVersions& then = previous.measurement_versions;
    const bool may_keep = now.operators_in_use == then.operators_in_use;
    std::unordered_map<std::string_view, std::size_t> changed;
    for (std::size_t i = 0; i < catalog.unit_types.size(); ++i) {
        UnitTypeView& view = catalog.unit_types[i];
        const UnitTypeView* const before = previous.find_unit_type(view.id.value);
        if (before != nullptr && std::equal(view.operators.begin(), view.operators.end(), before->operators.begin(),
                                            before->operators.end()))
            view.operators = before->operators;
        if (before == nullptr || !may_keep || !is_same_unit(*before, view) ||
            now.of_unit_type(view.id.value) != then.of_unit_type(view.id.value)) {
            changed.emplace(view.id.value, i);
            continue;
        }
        view.measured = before->measured;
        view.one_core = before->one_core;
        view.speedups = before->speedups;
        view.loads = before->loads;
    }
    return changed;
}

/// Another version than the one in use is another operator (CatalogSnapshot::operator_name()). By the versions that the
/// lists are kept by, which may be others already in the database.
MeasuredOperator named_by_version(const pqxx::row& row, const MeasurementVersions& versions)
{
    MeasuredOperator measured = to_measured_operator(row);
    const auto version = row["operator_version"].as<std::int64_t>();
    const auto in_use = versions.operators_in_use.find(measured.operator_id);
    if (in_use != versions.operators_in_use.end() && in_use->second != version)
        measured.operator_id += '@' + std::to_string(version);
    return measured;
}

/// What one result says of the work with one thread; empty where that was not measured.
std::optional<MeasuredOperator> with_one_thread(const pqxx::row& row, MeasuredOperator measured)
{
    if (row["one_thread_median_s"].is_null()) return std::nullopt;
    measured.median_s = row["one_thread_median_s"].as<double>();
    measured.ci_low_s = row["one_thread_ci_low_s"].as<double>();
    measured.ci_high_s = row["one_thread_ci_high_s"].as<double>();
    return measured;
}

/// The results of one place, newest first.
struct SeveralResults {
    std::vector<MeasuredOperator> with_all_cores;
    std::vector<MeasuredOperator> one_thread; ///< of those that have it

    void add(const pqxx::row& row, const MeasurementVersions& versions)
    {
        with_all_cores.push_back(named_by_version(row, versions));
        if (auto one = with_one_thread(row, with_all_cores.back())) one_thread.push_back(std::move(*one));
    }
    /// As it was measured with one thread, taken together as the others are; where it never was, what one core does of
    /// `measured` at best, time × cores: its library may have used one thread there as well, so the interval begins at
    /// that time itself.
    MeasuredOperator on_one_core(MeasuredOperator measured, std::int64_t cores) const
    {
        if (!one_thread.empty())
            measured = combine_results(one_thread);
        else
            for (double* time : {&measured.median_s, &measured.ci_high_s})
                *time *= static_cast<double>(cores);
        // No score rests on it, and the names of several runs are longer than all else.
        measured.older_run_ids = std::vector<std::string>();
        return measured;
    }
};

/// Of these unit types, by id.
void read_loads(pqxx::work& transaction, CatalogSnapshot& catalog, const std::string& ids,
                const std::unordered_map<std::string_view, std::size_t>& indices)
{
    std::map<std::size_t, UnitLoads> loads;
    for (const OperatorLoads& one : select_operator_loads(transaction, {.unit_types = ids})) {
        std::optional<LoadCurve> curve = fit_load_curve(one.results, one.copies);
        if (curve) loads[indices.at(one.unit_type_id)].push_back({one.operator_id, std::move(*curve)});
    }
    for (auto& [index, of_unit_type] : loads) {
        // The database's collation is another order.
        std::sort(of_unit_type.begin(), of_unit_type.end(),
                  [](const OperatorLoad& a, const OperatorLoad& b) { return a.operator_id < b.operator_id; });
        catalog.unit_types[index].loads = std::make_shared<const UnitLoads>(std::move(of_unit_type));
    }
}

/// Adds what the rows of one place say to its unit type and to the curves.
void add_place(std::span<const pqxx::row> newest_first, const MeasurementVersions& versions, std::size_t index,
               UnitTypeView& view, CatalogCurves& curves)
{
    SeveralResults results;
    for (const pqxx::row& row : newest_first)
        results.add(row, versions);
    MeasuredOperator measured = combine_results(results.with_all_cores);
    const auto unit_count = newest_first.front()["unit_count"].as<std::int64_t>();
    curves.add(index, measured, unit_count);
    // Probes have their data on the device already; jobs must bring it there (S4).
    if (is_device(view.resource_type))
        measured = with_transfers(std::move(measured), view.bus_gb > 0 ? view.bus_gb : kUsualBusGb);
    if (unit_count != 1) return;
    if (view.cores_per_unit > 1 && !is_device(view.resource_type))
        view.one_core.push_back(results.on_one_core(measured, view.cores_per_unit));
    view.measured.push_back(std::move(measured));
}

} // namespace

void read_measurements(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous)
{
    // Before the measurements: what is written meanwhile has another version, and is read next time.
    catalog.measurement_versions = select_versions(transaction);
    const std::unordered_map<std::string_view, std::size_t> changed = keep_unchanged(catalog, previous);
    if (changed.empty()) return;
    SqlArray ids;
    for (const auto& [id, index] : changed)
        ids.add(std::string(id));
    CatalogCurves curves;
    const std::string changed_ids = ids.take();
    read_loads(transaction, catalog, changed_ids, changed);
    const pqxx::result rows = transaction.exec_params(kSelectMeasurements, changed_ids, kMaxResults);
    for_each_place(rows, [&](std::span<const pqxx::row> place) {
        const std::size_t index = changed.at(place.front()["unit_type_id"].as<std::string>());
        add_place(place, catalog.measurement_versions, index, catalog.unit_types[index], curves);
    });
    curves.finish(catalog, previous);
}

} // namespace fathom::server
