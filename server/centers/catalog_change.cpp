#include "server/centers/catalog_change.hpp"

#include "core/base/join_text.hpp"
#include "core/base/utf8_prefix.hpp"
#include "server/centers/resources_store.hpp"
#include "server/centers/session_store.hpp"
#include "server/store/column.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <cstdlib>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxReasonLength = 1000;
constexpr std::int64_t kMaxUnitTypeNames = 1000; // of a center, ever; it offers 100 at a time
constexpr std::size_t kMaxFacts_bytes = 64UL << 10U;
constexpr std::size_t kMaxFactsInAll_bytes = 1UL << 20U;

constexpr const char* kSelectReports = R"sql(
    SELECT name, resource_type, unit_count, cores_per_unit, memory_bytes_per_unit, to_jsonb(operators) AS operators, facts
    FROM unit_type WHERE center_id = $1 AND active ORDER BY name)sql";

// A request that waits keeps its time, and hears each reason once.
constexpr const char* kNoteRequest = R"sql(
    UPDATE center
    SET probe_request_reason = left(CASE WHEN probe_requested_at IS NULL THEN $2
                                         WHEN position($2 IN probe_request_reason) > 0 THEN probe_request_reason
                                         ELSE probe_request_reason || '; ' || $2 END, 1000),
        probe_requested_at = coalesce(probe_requested_at, now())
    WHERE id = $1)sql";

std::vector<UnitTypeReport> select_reports(pqxx::transaction_base& transaction, const CenterId& center)
{
    std::vector<UnitTypeReport> reports;
    for (const pqxx::row& row : transaction.exec_params(kSelectReports, center.value)) {
        UnitTypeReport report;
        report.name = row["name"].as<std::string>();
        report.resource_type = row["resource_type"].as<std::string>();
        report.unit_count = row["unit_count"].as<std::int64_t>();
        report.cores_per_unit = row["cores_per_unit"].as<std::int64_t>();
        report.memory_bytes_per_unit = row["memory_bytes_per_unit"].as<std::int64_t>();
        report.operators = to_json_value(row["operators"]).get<std::vector<std::string>>();
        report.facts = to_json_value(row["facts"]);
        reports.push_back(std::move(report));
    }
    return reports;
}

void add(std::string& text, const std::string& part)
{
    text += (text.empty() ? "" : "; ") + part;
}

/// Keys whose values differ, those that are only on one side included.
std::vector<std::string> changed_facts(const Json& before, const Json& now)
{
    std::vector<std::string> keys;
    for (const auto& [key, value] : now.items()) {
        if (!before.contains(key) || before.at(key) != value) keys.push_back(key);
    }
    for (const auto& [key, value] : before.items()) {
        if (!now.contains(key)) keys.push_back(key);
    }
    // The switches of nodes change with the nodes that are up, and nothing at a unit.
    std::erase_if(keys,
                  [](const std::string& key) { return key == "labels" || key == "nodes" || key == "leaf_switches"; });
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::vector<std::string> new_operators(const UnitTypeReport& before, const UnitTypeReport& now)
{
    std::vector<std::string> ids;
    for (const std::string& id : now.operators) {
        if (std::find(before.operators.begin(), before.operators.end(), id) == before.operators.end())
            ids.push_back(id);
    }
    return ids;
}

std::string change_of(const UnitTypeReport& before, const UnitTypeReport& now)
{
    std::string text;
    if (before.resource_type != now.resource_type)
        add(text, "its resource type is " + now.resource_type + ", was " + before.resource_type);
    if (before.cores_per_unit != now.cores_per_unit)
        add(text, "a unit has " + std::to_string(now.cores_per_unit) + " cores, had " +
                      std::to_string(before.cores_per_unit));
    // Sub-units come and go all the time, and so do nodes of a batch system; what a unit does stays the same.
    const bool comes_and_goes = now.facts.contains("sub_units") || now.facts.contains("partition");
    if (before.unit_count != now.unit_count && !comes_and_goes)
        add(text, std::to_string(now.unit_count) + " units, were " + std::to_string(before.unit_count));
    if (const std::vector<std::string> ids = new_operators(before, now); !ids.empty())
        add(text, "new operators " + join_text(ids));
    if (const std::vector<std::string> keys = changed_facts(before.facts, now.facts); !keys.empty())
        add(text, join_text(keys) + " changed");
    return text;
}

const UnitTypeReport* find_report(const std::vector<UnitTypeReport>& reports, const std::string& name)
{
    const auto found =
        std::find_if(reports.begin(), reports.end(), [&](const UnitTypeReport& other) { return other.name == name; });
    return found == reports.end() ? nullptr : &*found;
}

std::string counts(std::int64_t now, std::int64_t before, const char* what)
{
    return std::to_string(now) + what + ", were " + std::to_string(before);
}

/// Of machines that report it a little differently from start to start.
bool is_other_memory(std::int64_t before, std::int64_t now)
{
    return std::abs(before - now) > before / 100;
}

std::string offer_change_of(const UnitTypeReport& before, const UnitTypeReport& now)
{
    std::string text;
    if (before.unit_count != now.unit_count) add(text, counts(now.unit_count, before.unit_count, " units"));
    if (before.cores_per_unit != now.cores_per_unit)
        add(text, counts(now.cores_per_unit, before.cores_per_unit, " cores in a unit"));
    if (is_other_memory(before.memory_bytes_per_unit, now.memory_bytes_per_unit))
        add(text, counts(now.memory_bytes_per_unit, before.memory_bytes_per_unit, " bytes of memory in a unit"));
    if (before.resource_type != now.resource_type)
        add(text, "resource type " + now.resource_type + ", was " + before.resource_type);
    if (const std::vector<std::string> come = new_operators(before, now); !come.empty())
        add(text, "new operators " + join_text(come));
    if (const std::vector<std::string> gone = new_operators(now, before); !gone.empty())
        add(text, "without operators " + join_text(gone));
    return text;
}

} // namespace

std::string describe_offer_change(const std::vector<UnitTypeReport>& before, const std::vector<UnitTypeReport>& now)
{
    std::string text;
    for (const UnitTypeReport& report : now) {
        const UnitTypeReport* const old = find_report(before, report.name);
        if (old == nullptr)
            add(text, "new unit type " + report.name + " with " + std::to_string(report.unit_count) + " units");
        else if (const std::string change = offer_change_of(*old, report); !change.empty())
            add(text, report.name + ": " + change);
    }
    for (const UnitTypeReport& report : before) {
        if (find_report(now, report.name) == nullptr) add(text, "unit type " + report.name + " is gone");
    }
    return text;
}

std::string describe_change(const std::vector<UnitTypeReport>& before, const std::vector<UnitTypeReport>& now)
{
    std::string text;
    for (const UnitTypeReport& report : now) {
        const auto old = std::find_if(before.begin(), before.end(),
                                      [&](const UnitTypeReport& other) { return other.name == report.name; });
        if (old == before.end())
            add(text, "new unit type " + report.name);
        else if (const std::string change = change_of(*old, report); !change.empty())
            add(text, report.name + ": " + change);
    }
    return text;
}

Result<void> check_facts(const Catalog& catalog)
{
    std::size_t all = 0;
    const auto check = [&all](const Json& facts, const std::string& whose) -> Result<void> {
        if (contains_nul(facts)) return Error{Errc::kInvalid, "the catalog's facts hold a NUL character"};
        const std::size_t size = facts.dump(-1, ' ', false, Json::error_handler_t::replace).size();
        all += size;
        if (size > kMaxFacts_bytes) return Error{Errc::kInvalid, "the facts of " + whose + " are more than 64 KiB"};
        return {};
    };
    if (Result<void> good = check(catalog.facts, "the center"); !good) return good;
    for (const UnitTypeReport& unit_type : catalog.unit_types) {
        if (Result<void> good = check(unit_type.facts, "unit type " + unit_type.name); !good) return good;
    }
    if (all > kMaxFactsInAll_bytes) return Error{Errc::kInvalid, "the catalog's facts are more than 1 MiB"};
    return {};
}

Result<bool> take_catalog(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog)
{
    // What was ever measured or run on a unit type names it, so none is removed.
    if (count_unit_type_names(transaction, center, catalog) > kMaxUnitTypeNames)
        return Error{Errc::kInvalid, "the center has named " + std::to_string(kMaxUnitTypeNames) +
                                         " unit types by now, and no more are kept: use names of earlier ones again"};
    const std::vector<UnitTypeReport> before = select_reports(transaction, center);
    const std::string change = describe_change(before, catalog.unit_types);
    const std::string offer_change = describe_offer_change(before, catalog.unit_types);
    const bool changed = store_catalog(transaction, center, catalog);
    if (!offer_change.empty()) {
        note_center_change(transaction, center, offer_change);
        log_after_commit(LogLevel::kInfo, "center_offer_changed",
                         {{"center_id", center.value}, {"change", offer_change}});
    }
    if (!change.empty()) note_probe_request(transaction, center, "catalog changed: " + change);
    return changed;
}

void note_probe_request(pqxx::transaction_base& transaction, const CenterId& center, const std::string& reason)
{
    transaction.exec_params0(kNoteRequest, center.value, std::string(utf8_prefix(reason, kMaxReasonLength)));
    notify(transaction, "probe_request", center.value);
    log_after_commit(LogLevel::kInfo, "probes_requested_by_center", {{"center_id", center.value}, {"reason", reason}});
}

} // namespace fathom::server
