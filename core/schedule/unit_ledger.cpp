#include "core/schedule/unit_ledger.hpp"

#include <algorithm>

namespace fathom {
namespace {

void add_text(std::string& key, const std::string& text)
{
    key += std::to_string(text.size()) + ':' + text;
}

void add_texts(std::string& key, const std::vector<std::string>& texts)
{
    key += std::to_string(texts.size()) + '[';
    for (const std::string& text : texts)
        add_text(key, text);
}

/// All that unmeasured_candidates() asks of a request.
std::string measuring_key(const RouteRequest& request, std::chrono::seconds period)
{
    std::string key;
    for (const OperatorDemand& demand : request.operators) {
        add_text(key, demand.operator_id);
        add_text(key, demand.parameters_key);
    }
    const UnitRequest& units = request.units;
    key += '/';
    for (const std::string* text : {&units.type, &units.device, &units.center})
        add_text(key, *text);
    for (const auto* texts : {&units.isa, &request.sites, &request.project_centers})
        add_texts(key, *texts);
    for (const std::int64_t number : {units.memory_bytes, units.count.value_or(units.min),
                                      std::int64_t{request.is_probe}, std::int64_t{period.count()}})
        key += std::to_string(number) + ';';
    return key;
}

} // namespace

UnitLedger::UnitLedger(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge, const UnitCalendar& calendar,
                       std::span<const Reservation> reserved, std::span<const Reservation> planned, Timestamp now)
    : now_(now), views_(unit_types.begin(), unit_types.end()), knowledge_(std::move(knowledge))
{
    for (std::size_t i = 0; i < views_.size(); ++i)
        index_[views_[i].id.value] = i;
    lay_calendar(calendar, now);
    for (const Reservation& one : reserved)
        reserve(one);
    for (const Reservation& one : planned)
        reserve(one);
}

void UnitLedger::lay_calendar(const UnitCalendar& calendar, Timestamp now)
{
    for (const KnownHold& known : calendar.holds) {
        const auto found = index_.find(known.unit_type_id.value);
        const Hold hold = hold_from(known, now);
        if (found != index_.end() && hold.to_s > 0) views_[found->second].holds.push_back(hold);
    }
    for (const KnownClosure& known : calendar.closures) {
        const auto found = index_.find(known.unit_type_id.value);
        const Closure closure = closure_from(known, now);
        if (found == index_.end() || closure.to_s <= 0) continue;
        UnitTypeView& view = views_[found->second];
        view.availability.take(closure.from_s, closure.to_s, view.unit_count);
        view.closures.push_back(closure);
    }
}

void UnitLedger::reserve(const Reservation& reservation)
{
    const auto found = index_.find(reservation.unit_type_id.value);
    if (found == index_.end()) return;
    UnitTypeView& view = views_[found->second];
    if (trial_) trial_->push_back({found->second, view.availability, view.holds});
    view.availability.take(reservation.from_s, reservation.release_s, reservation.unit_count);
    use_holds(view.holds, {reservation.project, reservation.from_s, reservation.release_s, reservation.unit_count});
    if (table_) table_->changed(found->second);
}

const UnitTypeView* UnitLedger::find(const UnitTypeId& id) const
{
    const auto found = index_.find(id.value);
    return found == index_.end() ? nullptr : &views_[found->second];
}

void UnitLedger::begin_trial()
{
    trial_.emplace();
}

void UnitLedger::undo_trial()
{
    if (!trial_) return;
    for (auto before = trial_->rbegin(); before != trial_->rend(); ++before) {
        views_[before->index].availability = std::move(before->availability);
        views_[before->index].holds = std::move(before->holds);
        if (table_) table_->changed(before->index);
    }
    trial_.reset();
}

Decision UnitLedger::decide(const RouteRequest& request)
{
    if (!table_) table_.emplace(views_, knowledge_);
    return route(request, *table_);
}

const std::vector<std::size_t>& UnitLedger::unmeasured(const RouteRequest& request, std::chrono::seconds period)
{
    const auto [known, is_new] = unmeasured_.try_emplace(measuring_key(request, period));
    if (is_new) known->second = unmeasured_candidates(request, views_, now_, period);
    return known->second;
}

bool UnitLedger::has_free_unit() const
{
    return std::any_of(views_.begin(), views_.end(), [](const UnitTypeView& view) {
        const bool is_open = view.closed_reason.empty() || view.is_open_to_probes;
        return is_open && view.availability.free_now() > 0;
    });
}

} // namespace fathom
