#include "agent/jobs/sub_units.hpp"

#include "core/base/utf8_prefix.hpp"

#include <algorithm>
#include <utility>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxSubUnits = 1'000'000;
constexpr std::int64_t kMaxVersion = 1LL << 60U;
constexpr std::size_t kMaxRefusalLength = 1000;

SubUnitCounts read_counts(const Json& json, const std::string& kind, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, kind, errors);
    SubUnitCounts counts;
    counts.version = reader.required_integer("version", 0, kMaxVersion);
    counts.held = reader.required_integer("held_count", 0, kMaxSubUnits);
    counts.offered = reader.required_integer("offered_count", 0, kMaxSubUnits);
    return counts;
}

Json to_json(const SubUnitCounts& counts)
{
    return {{"version", counts.version}, {"held_count", counts.held}, {"offered_count", counts.offered}};
}

const SubUnitRule* rule_of(const std::vector<SubUnitRule>& rules, const std::string& kind)
{
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const SubUnitRule& rule) { return rule.kind == kind; });
    return found == rules.end() ? nullptr : &*found;
}

} // namespace

Result<SubUnits> SubUnits::make(std::vector<SubUnitRule> rules, const std::string& stored)
{
    SubUnits sub_units;
    const Result<Json> json = stored.empty() ? Result<Json>(Json::object()) : parse_json(stored);
    if (!json) return json.error();
    if (!json->is_object()) return Error{Errc::kInvalid, "the stored sub-units are no table of kinds"};
    std::vector<FieldError> errors;
    for (const auto& [kind, item] : json->items())
        sub_units.entries_[kind] = read_entry(item, kind, errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the stored sub-units are damaged", std::move(errors)};
    if (const Result<void> fits = sub_units.replace_rules(std::move(rules)); !fits) return fits.error();
    return sub_units;
}

SubUnits::Entry SubUnits::read_entry(const Json& json, const std::string& kind, std::vector<FieldError>& errors)
{
    Entry entry;
    entry.counts = read_counts(json, kind, errors);
    if (!json.is_object()) return entry;
    if (json.contains("target")) entry.target = read_counts(json["target"], kind + ".target", errors);
    ObjectReader reader(json, kind, errors);
    entry.refused_version = reader.optional_integer("refused_version", 0, kMaxVersion).value_or(0);
    entry.refusal = reader.optional_string("refusal", {}).value_or("");
    entry.is_unsure = reader.optional_boolean("is_unsure").value_or(false);
    entry.heard_refusal = {reader.optional_string("heard_refusal", {}).value_or("")};
    if (json.contains("last_refusal")) {
        ObjectReader last(json["last_refusal"], kind + ".last_refusal", errors);
        entry.last_refusal = {.request = {last.required_string("request", {})},
                              .reason = last.required_string("reason", {})};
    }
    return entry;
}

Json SubUnits::entry_json(const Entry& entry)
{
    Json json = to_json(entry.counts);
    if (entry.target) json["target"] = to_json(*entry.target);
    if (entry.refused_version > 0) {
        json["refused_version"] = entry.refused_version;
        json["refusal"] = entry.refusal;
    }
    if (entry.is_unsure) json["is_unsure"] = true;
    if (!entry.heard_refusal.value.empty()) json["heard_refusal"] = entry.heard_refusal.value;
    if (entry.last_refusal)
        json["last_refusal"] = {{"request", entry.last_refusal->request.value}, {"reason", entry.last_refusal->reason}};
    return json;
}

std::string SubUnits::stored() const
{
    Json json = Json::object();
    for (const auto& [kind, entry] : entries_)
        json[kind] = entry_json(entry);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> SubUnits::replace_rules(std::vector<SubUnitRule> rules)
{
    for (const auto& [kind, entry] : entries_) {
        if (rule_of(rules, kind) == nullptr && entry.counts.version > 0)
            return Error{Errc::kInvalid, "sub_units: sub-units of kind " + kind +
                                             " are shared with other centers, and no table names them; set its total "
                                             "to what this center brings, 0 for none"};
    }
    std::erase_if(entries_, [&](const auto& entry) { return rule_of(rules, entry.first) == nullptr; });
    for (const SubUnitRule& rule : rules)
        entries_.try_emplace(rule.kind);
    rules_ = std::move(rules);
    return {};
}

void SubUnits::note_machine(const Catalog& catalog)
{
    for (const SubUnitRule& rule : rules_) {
        const auto type = std::find_if(catalog.unit_types.begin(), catalog.unit_types.end(),
                                       [&](const UnitTypeReport& report) { return report.name == rule.unit_type; });
        entries_[rule.kind].most_units = type == catalog.unit_types.end() ? 0 : type->unit_count;
    }
}

void SubUnits::take(const link::SubUnitTarget& target)
{
    const auto found = entries_.find(target.kind);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    const std::int64_t newest = entry.target ? entry.target->version : entry.counts.version;
    if (target.version <= newest) return;
    entry.target = SubUnitCounts{target.version, target.held_count, std::min(target.offered_count, target.held_count)};
}

std::optional<SubUnitChange> SubUnits::next(const HoldsBeyond& holds_beyond)
{
    if (is_changing_) return std::nullopt;
    for (const SubUnitRule& rule : rules_) {
        const Entry& entry = entries_.at(rule.kind);
        if (!entry.target || entry.refused_version == entry.target->version) continue;
        const bool gives_up = entry.target->held < entry.counts.held;
        if (gives_up && holds_beyond(rule.unit_type, entry.target->held / rule.sub_units_per_unit)) continue;
        is_changing_ = true;
        return SubUnitChange{rule, entry.counts, *entry.target,
                             entry.is_unsure || entry.target->held != entry.counts.held};
    }
    return std::nullopt;
}

void SubUnits::done(const SubUnitChange& change, PartsPlace parts)
{
    is_changing_ = false;
    const auto found = entries_.find(change.rule.kind);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    entry.counts = change.to;
    entry.refused_version = 0;
    entry.refusal.clear();
    if (change.moves) entry.is_unsure = parts == PartsPlace::kUnsure;
    if (entry.target && entry.target->version <= change.to.version) entry.target.reset();
}

void SubUnits::refuse(const SubUnitChange& change, const std::string& reason)
{
    is_changing_ = false;
    const auto found = entries_.find(change.rule.kind);
    if (found == entries_.end()) return;
    found->second.refused_version = change.to.version;
    found->second.is_unsure = true;
    found->second.refusal = std::string(utf8_prefix(reason, kMaxRefusalLength));
}

bool SubUnits::hear_refusal(const link::SubUnitTarget& target)
{
    const auto found = entries_.find(target.kind);
    if (found == entries_.end() || !target.refusal) return false;
    if (found->second.heard_refusal == target.refusal->request) return false;
    found->second.heard_refusal = target.refusal->request;
    return note_refusal(target.kind, *target.refusal);
}

bool SubUnits::note_refusal(const std::string& kind, const link::SubUnitRefusal& refusal)
{
    const auto found = entries_.find(kind);
    if (found == entries_.end()) return false;
    found->second.last_refusal = {.request = refusal.request,
                                  .reason = std::string(utf8_prefix(refusal.reason, kMaxRefusalLength))};
    return true;
}

std::optional<link::SubUnitRefusal> SubUnits::last_refusal(const std::string& kind) const
{
    const auto found = entries_.find(kind);
    return found == entries_.end() ? std::nullopt : found->second.last_refusal;
}

std::map<std::string, std::int64_t> SubUnits::limits() const
{
    std::map<std::string, std::int64_t> limits;
    for (const SubUnitRule& rule : rules_) {
        const Entry& entry = entries_.at(rule.kind);
        const std::int64_t held = entry.target ? std::min(entry.target->held, entry.counts.held) : entry.counts.held;
        limits[rule.unit_type] = held / rule.sub_units_per_unit;
    }
    return limits;
}

Catalog SubUnits::limited(Catalog catalog) const
{
    for (const SubUnitRule& rule : rules_) {
        const std::int64_t units = entries_.at(rule.kind).counts.offered / rule.sub_units_per_unit;
        for (UnitTypeReport& report : catalog.unit_types) {
            if (report.name != rule.unit_type) continue;
            report.unit_count = std::min(report.unit_count, units);
            report.facts["sub_units"] = rule.kind;
        }
        std::erase_if(catalog.unit_types, [&](const UnitTypeReport& report) {
            return report.name == rule.unit_type && report.unit_count == 0;
        });
    }
    return catalog;
}

link::SubUnitState SubUnits::state() const
{
    link::SubUnitState state;
    for (const SubUnitRule& rule : rules_) {
        const Entry& entry = entries_.at(rule.kind);
        const std::int64_t present = std::min(entry.most_units * rule.sub_units_per_unit, kMaxSubUnits);
        state.holdings.push_back({.kind = rule.kind,
                                  .unit_type = rule.unit_type,
                                  .sub_units_per_unit = rule.sub_units_per_unit,
                                  .registered_count = rule.total,
                                  .most_count = rule.most > 0 ? rule.most : std::max(rule.total, present),
                                  .version = entry.counts.version,
                                  .held_count = entry.counts.held,
                                  .offered_count = entry.counts.offered,
                                  .refused_version = entry.refused_version,
                                  .refusal = entry.refusal});
    }
    return state;
}

} // namespace fathom::agent
