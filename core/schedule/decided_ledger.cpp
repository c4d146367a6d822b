#include "core/schedule/decided_ledger.hpp"

namespace fathom {

RouteRequest DecidedLedger::request_of(const ReadyJob& job) const
{
    RouteRequest request = job.request;
    const auto found = projects_.quota_uses.find(request.project);
    if (found != projects_.quota_uses.end()) request.used = found->second;
    return request;
}

std::shared_ptr<const Decision> DecidedLedger::decide(const ReadyJob& job)
{
    const auto known = decisions_.find(job.kind);
    if (known != decisions_.end()) return known->second;
    auto decided = std::make_shared<const Decision>(units_->decide(request_of(job)));
    return decisions_.emplace(job.kind, std::move(decided)).first->second;
}

void DecidedLedger::reserve(const Reservation& reservation)
{
    units_->reserve(reservation);
    decisions_.clear();
}

void DecidedLedger::start(const RouteRequest& request, const Candidate& winner, double held_s)
{
    Reservation reservation = reservation_of(request, winner);
    reservation.release_s = reservation.from_s + held_s;
    units_->admit(winner.unit_type_id, request.units.gpu_memory, request.learned_gpu_memory);
    if (winner.wait_s <= 0)
        units_->place_on_gpus(winner.unit_type_id, {request.gpu_kind, reservation.release_s}, winner.unit_count,
                              request.units.is_exclusive());
    reserve(reservation);
    if (request.is_probe) return;
    add_units(projects_.uses, {request.project, winner.unit_type_id.value, winner.unit_count});
    const UnitTypeView* view = units_->find(winner.unit_type_id);
    add(projects_.quota_uses[request.project], use_of(winner, view == nullptr ? 0 : view->score));
}

void DecidedLedger::begin_trial()
{
    before_trial_ = projects_;
    units_->begin_trial();
}

void DecidedLedger::keep_trial()
{
    before_trial_.reset();
    units_->keep_trial();
}

void DecidedLedger::undo_trial()
{
    if (before_trial_) projects_ = std::move(*before_trial_);
    before_trial_.reset();
    units_->undo_trial();
    decisions_.clear();
}

Reservation reservation_of(const RouteRequest& request, const Candidate& winner)
{
    Reservation reservation{winner.unit_type_id, winner.unit_count, winner.wait_s + winner.held_s(), winner.wait_s,
                            request.project};
    if (winner.whole_devices > 0) reservation.whole_device_units = winner.unit_count;
    reservation.memory = winner.memory;
    return reservation;
}

} // namespace fathom
