#include "server/billing/usage_meter.hpp"

#include "core/base/secret.hpp"
#include "server/store/column.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxAttempts = 2000;

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
    constexpr double kMax = 1e9; // points: no unit has as many, and a price times as many still fits
    return std::llround(std::clamp(score, 0.0, kMax) * 1000);
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
                         {"probe_run_ids", part.probe_run_ids},
                         {"measured_at", time_json(part.measured_at)}});
    }
    return {{"unit_type_id", view.id.value},  {"center", view.center_name}, {"unit_type", view.name},
            {"policy", text_or_null(policy)}, {"score", score.value},       {"is_assumed", score.parts.empty()},
            {"parts", std::move(parts)}};
}

UsageMeter::Due UsageMeter::find_due(pqxx::work& transaction) const
{
    Due due{select_unmetered_unit_types(transaction, kMaxAttempts), std::nullopt};
    if (!due.unit_types.empty() && policy_) due.policy = policy_(transaction);
    return due;
}

std::int64_t UsageMeter::meter(pqxx::work& transaction, Judged judged) const
{
    lock_metering(transaction);
    std::int64_t records = 0;
    for (const std::string& id : judged.gone) {
        // What it scored last still holds.
        std::optional<MeteredUnitType> last = select_last_evidence(transaction, id);
        judged.unit_types.push_back(last ? std::move(*last)
                                         : MeteredUnitType{id, to_score_milli(kAssumedScore), "", "", 0});
    }
    if (!judged.unit_types.empty()) {
        insert_evidence(transaction, judged.unit_types);
        records += meter_attempts(transaction, judged.unit_types, kMaxAttempts);
    }
    records += meter_late_ends(transaction);
    records += meter_storage(transaction);
    records += meter_reservations(transaction);
    return records;
}

struct UsageMeter::Scoring {
    Scoring(CatalogPointer of_catalog, MetricPolicy by_policy)
        : catalog(std::move(of_catalog)), policy(std::move(by_policy)), scorer(*catalog, policy)
    {
    }
    Scoring(const Scoring&) = delete;
    Scoring& operator=(const Scoring&) = delete;

    CatalogPointer catalog;
    MetricPolicy policy;
    UnitScorer scorer; ///< refers to both
};

std::shared_ptr<const UsageMeter::Scoring> UsageMeter::scoring_of(CatalogPointer catalog, MetricPolicy policy) const
{
    {
        const std::scoped_lock lock(mutex_);
        // A version of a policy never changes.
        if (scoring_ && scoring_->catalog == catalog && policy_name(scoring_->policy) == policy_name(policy))
            return scoring_;
    }
    auto made = std::make_shared<const Scoring>(std::move(catalog), std::move(policy));
    const std::scoped_lock lock(mutex_);
    scoring_ = made;
    return made;
}

UsageMeter::Judged UsageMeter::judge(const Due& due) const
{
    const CatalogPointer catalog = catalog_->get();
    const std::shared_ptr<const Scoring> scoring = due.policy ? scoring_of(catalog, *due.policy) : nullptr;
    Judged judged;
    for (const std::string& id : due.unit_types) {
        const auto view =
            std::lower_bound(catalog->unit_types.begin(), catalog->unit_types.end(), id,
                             [](const UnitTypeView& one, const std::string& name) { return one.id.value < name; });
        if (view == catalog->unit_types.end() || view->id.value != id) {
            judged.gone.push_back(id);
            continue;
        }
        const UnitScore score = scoring ? scoring->scorer.score(*view) : UnitScore();
        judged.unit_types.push_back(metered(*view, scoring ? policy_name(scoring->policy) : "", score));
    }
    return judged;
}

} // namespace fathom::server
