#include "server/billing/usage_meter.hpp"

#include "core/base/secret.hpp"
#include "server/store/column.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

constexpr std::int64_t kMostAttempts = 2000;

MeteredUnitType metered(const UnitTypeView& view, const std::string& policy, const UnitScore& score)
{
    MeteredUnitType one;
    one.unit_type_id = view.id.value;
    one.score_milli = to_score_milli(score.value);
    one.evidence = score_evidence(policy, view, score).dump();
    one.evidence_id = sha256_hex(one.evidence);
    if (view.price) one.power_w = view.price->unit_power_w();
    return one;
}

} // namespace

std::int64_t to_score_milli(double score)
{
    constexpr double kMost = 1e9; // points: no unit has as many, and a price times as many still fits
    return std::llround(std::clamp(score, 0.0, kMost) * 1000);
}

Json score_evidence(const std::string& policy, const UnitTypeView& view, const UnitScore& score)
{
    Json parts = Json::array();
    for (const ScoredPart& part : score.parts) {
        if (!part.score) continue;
        parts.push_back({{"operator_id", part.part.operator_id},
                         {"parameters_key", part.parameters_key},
                         {"weight", part.part.weight},
                         {"score", part.score->value},
                         {"probe_run_id", text_or_null(part.probe_run_id)},
                         {"measured_at", time_json(part.measured_at)}});
    }
    return {{"unit_type_id", view.id.value},  {"center", view.center_name}, {"unit_type", view.name},
            {"policy", text_or_null(policy)}, {"score", score.value},       {"is_assumed", score.parts.empty()},
            {"parts", std::move(parts)}};
}

std::int64_t UsageMeter::meter(pqxx::work& transaction) const
{
    lock_metering(transaction);
    std::int64_t records = 0;
    const std::vector<std::string> unit_types = select_unmetered_unit_types(transaction, kMostAttempts);
    if (!unit_types.empty()) {
        const std::vector<MeteredUnitType> judged = judge(transaction, unit_types);
        insert_evidence(transaction, judged);
        records += meter_attempts(transaction, judged, kMostAttempts);
    }
    records += meter_late_ends(transaction);
    records += meter_storage(transaction);
    records += meter_reservations(transaction);
    return records;
}

std::vector<MeteredUnitType> UsageMeter::judge(pqxx::work& transaction,
                                               const std::vector<std::string>& unit_types) const
{
    const CatalogPointer catalog = catalog_->get();
    const std::optional<MetricPolicy> policy = policy_ ? policy_(transaction) : std::nullopt;
    std::optional<UnitScorer> scorer;
    if (policy) scorer.emplace(*catalog, *policy);
    std::vector<MeteredUnitType> judged;
    for (const std::string& id : unit_types) {
        const auto view = std::find_if(catalog->unit_types.begin(), catalog->unit_types.end(),
                                       [&](const UnitTypeView& one) { return one.id.value == id; });
        if (view != catalog->unit_types.end()) {
            const UnitScore score = scorer ? scorer->score(*view) : UnitScore();
            judged.push_back(metered(*view, policy ? policy_name(*policy) : "", score));
            continue;
        }
        // It has left the catalog meanwhile: what it scored last still holds.
        std::optional<MeteredUnitType> last = select_last_evidence(transaction, id);
        judged.push_back(last ? std::move(*last) : MeteredUnitType{id, to_score_milli(kAssumedScore), "", "", 0});
    }
    return judged;
}

} // namespace fathom::server
