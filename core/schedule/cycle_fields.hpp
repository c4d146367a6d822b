#pragma once

#include "core/schedule/byte_archive.hpp"
#include "core/schedule/cycle_gpu_fields.hpp"
#include "core/schedule/schedule.hpp"

#include <algorithm>

/// The fields of what a scheduling cycle takes, in the order in which documents have them; part of
/// core/schedule/cycle_document. Whoever adds a field to one of these objects adds it here, raises
/// kCycleVersion, and has it read where archive.version() says that it is there.
namespace fathom::cycle {

/// From then on what goes between a center's nodes is written, and which jobs compress it.
inline constexpr std::uint64_t kNodeTransfersVersion = 17;

/// Stop to compile when an object gets a field that is not written yet: add it to its fields(), and here.
namespace all_fields {
inline void know(const OperatorDemand& demand)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9] = demand;
}
inline void know(const UnitRequest& units)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = units;
    [[maybe_unused]] const auto& [m1, m2] = units.gpu_memory;
}
inline void know(const TransferRequest& transfer)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5] = transfer;
}
inline void know(const RouteRequest& request)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                                  f20, f21, f22, f23, f24, f25, f26, f27] = request;
}
inline void know(const KnownRun& run)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = run;
}
inline void know(const ProjectUse& use)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4] = use;
}
inline void know(const UnitTypeLoads& loads)
{
    [[maybe_unused]] const auto& [f1, f2] = loads;
}
inline void know(const OrderSettings& settings)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, wait_stretch] = settings; // the last is the same wherever it runs
}
inline void know(const ProbeHost& host)
{
    [[maybe_unused]] const auto& [f1, f2] = host;
}
inline void know(const Reservation& reservation)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7] = reservation;
}
inline void know(const MeasuredOperator& measured)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, cache_verdict,
                                  older_run_ids] = measured; // the last two are for scores alone
}
inline void know(const PastRun& run)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
                                  f19] = run;
}
} // namespace all_fields

template <class Archive, FieldsOf<OperatorDemand> T>
void fields(Archive& archive, T& demand)
{
    archive.text(demand.operator_id);
    archive.text(demand.parameters_key);
    archive.integer(demand.count);
    archive.real(demand.operations, NumberRange::kAmount);
    archive.real(demand.bytes, NumberRange::kAmount);
    archive.real(demand.share, NumberRange::kAmount);
    archive.flag(demand.is_serial);
    archive.real(demand.similarity, NumberRange::kAmount);
    archive.text(demand.remainder);
}

template <class Archive, FieldsOf<UnitRequest> T>
void fields(Archive& archive, T& units)
{
    archive.text(units.type);
    archive.text(units.device);
    text_fields(archive, units.isa);
    archive.integer(units.memory_bytes, 0, kAll);
    if (archive.version() >= 3) {
        archive.integer(units.gpu_memory.persistent_bytes, 0, kMaxGpuBytes);
        archive.integer(units.gpu_memory.temporary_bytes, 0, kMaxGpuBytes);
    }
    archive.text(units.center);
    optional_fields(archive, units.count, [&](auto& count) { archive.integer(count, 1); });
    archive.integer(units.min, 1);
    archive.integer(units.max, 1);
    archive.flag(units.ignore_knee);
    if (archive.version() >= 4) archive.choice(units.sharing, UnitSharing::kExclusive);
    archive.expect(units.min <= units.max, "a job's least count is above its most");
}

template <class Archive, FieldsOf<TransferRequest> T>
void fields(Archive& archive, T& transfer)
{
    archive.real(transfer.in_bytes, NumberRange::kAmount);
    archive.real(transfer.out_bytes, NumberRange::kAmount);
    archive.choice(transfer.network, NetworkChoice::kNow);
    optional_fields(archive, transfer.deadline, [&](auto& deadline) { archive.moment(deadline); });
    archive.moment(transfer.now);
}

template <class Archive, FieldsOf<Preference> T>
void fields(Archive& archive, T& prefer)
{
    archive.real(prefer.time, NumberRange::kAmount);
    archive.real(prefer.cost, NumberRange::kAmount);
    archive.real(prefer.energy, NumberRange::kAmount);
}

template <class Archive, FieldsOf<Quota> T>
void fields(Archive& archive, T& quota)
{
    archive.integer(quota.max_units);
    archive.real(quota.max_score_hours, NumberRange::kAmount);
    archive.real(quota.max_cost, NumberRange::kAmount);
}

template <class Archive, FieldsOf<QuotaUse> T>
void fields(Archive& archive, T& use)
{
    archive.integer(use.units);
    archive.real(use.score_hours, NumberRange::kAmount);
    archive.real(use.cost, NumberRange::kAmount);
}

template <class Archive, FieldsOf<SoftwareKinds> T>
void fields(Archive& archive, T& kinds)
{
    archive.flag(kinds.modules);
    archive.flag(kinds.containers);
}

/// Without its known run, which jobs share.
template <class Archive, FieldsOf<RouteRequest> T>
void fields(Archive& archive, T& request)
{
    archive.text(request.job_type);
    archive.text(request.project);
    archive.text(request.owner);
    list_fields(archive, request.operators, [&](auto& demand) { fields(archive, demand); });
    archive.flag(request.takes_operators);
    fields(archive, request.units);
    fields(archive, request.transfer);
    text_fields(archive, request.sites);
    fields(archive, request.prefer);
    optional_fields(archive, request.budget, [&](auto& budget) { archive.real(budget, NumberRange::kAmount); });
    text_fields(archive, request.project_centers);
    fields(archive, request.quota);
    fields(archive, request.used);
    archive.real(request.gpu_threshold, NumberRange::kAmount);
    archive.flag(request.is_probe);
    if (archive.version() >= 5) archive.integer(request.wall_limit_s, 0, kAll);
    if (archive.version() >= 7) archive.integer(request.asked_s, 0, kAll);
    if (archive.version() >= 9) text_fields(archive, request.refused_by);
    // Before that the threshold was only told.
    if (archive.version() >= 10) archive.flag(request.follows_gpu_threshold);
    if (archive.version() < 11) return;
    map_fields(archive, request.kept_in_bytes, [&](auto& bytes) { archive.real(bytes, NumberRange::kAmount); });
    archive.real(request.staged_in_bytes, NumberRange::kAmount);
    if (archive.version() >= 12) fields(archive, request.software);
    if (archive.version() >= 14)
        map_fields(archive, request.gpu_shares, [&](auto& expected) { fields(archive, expected); });
    if (archive.version() < 15) return;
    archive.integer(request.learned_gpu_memory.persistent_bytes, 0, kMaxGpuBytes);
    archive.integer(request.learned_gpu_memory.temporary_bytes, 0, kMaxGpuBytes);
    if (archive.version() >= kNodeTransfersVersion) archive.flag(request.compresses);
    if (archive.version() >= kPlacedOnGpusVersion) archive.text(request.gpu_kind);
}

template <class Archive, FieldsOf<ProjectUse> T>
void fields(Archive& archive, T& use)
{
    archive.text(use.project);
    archive.real(use.share, NumberRange::kAmount);
    archive.expect(use.share > 0, "a project's share is not above 0");
    map_fields(archive, use.used_unit_s, [&](auto& used) { archive.real(used, NumberRange::kAmount); });
    map_fields(archive, use.units, [&](auto& units) { archive.integer(units, -kMaxUnits); });
}

template <class Archive, FieldsOf<UnitTypeLoads> T>
void fields(Archive& archive, T& loads)
{
    for (auto* shares : {&loads.busy_shares, &loads.shadow_prices})
        map_fields(archive, *shares, [&](auto& share) { archive.real(share, NumberRange::kAmount); });
}

template <class Archive, FieldsOf<OrderSettings> T>
void fields(Archive& archive, T& settings)
{
    archive.choice(settings.rule, OrderRule::kMinCostAssignment);
    archive.real(settings.advantage_exponent, NumberRange::kAmount);
    archive.real(settings.starvation_limit_factor, NumberRange::kAmount);
    archive.real(settings.starvation_limit_s, NumberRange::kAmount);
}

template <class Archive, FieldsOf<ProbeHost> T>
void fields(Archive& archive, T& host)
{
    archive.integer(host.host);
    archive.integer(host.probes);
}

/// The first version that has what jobs do to memory, and memory to them.
inline constexpr std::uint64_t kMemoryUseVersion = 13;

template <class Archive, FieldsOf<Reservation> T>
void fields(Archive& archive, T& reservation)
{
    archive.text(reservation.unit_type_id.value);
    archive.integer(reservation.unit_count);
    archive.real(reservation.release_s, NumberRange::kForEver);
    archive.real(reservation.from_s, NumberRange::kForEver);
    archive.text(reservation.project);
    if (archive.version() >= 4)
        optional_fields(archive, reservation.whole_device_units, [&](auto& units) { archive.integer(units); });
    if (archive.version() >= kMemoryUseVersion)
        optional_fields(archive, reservation.memory, [&](auto& memory) {
            archive.real(memory.pressure, NumberRange::kAmount);
            archive.real(memory.sensitivity, NumberRange::kAmount);
        });
}

template <class Archive, FieldsOf<UnitCalendar> T>
void fields(Archive& archive, T& calendar)
{
    list_fields(archive, calendar.holds, [&](auto& hold) {
        archive.text(hold.unit_type_id.value);
        archive.text(hold.project);
        archive.moment(hold.from);
        archive.moment(hold.to);
        archive.integer(hold.unit_count);
    });
    list_fields(archive, calendar.closures, [&](auto& closure) {
        archive.text(closure.unit_type_id.value);
        archive.moment(closure.from);
        archive.moment(closure.to);
    });
}

template <class Archive, FieldsOf<MeasuredOperator> T>
void fields(Archive& archive, T& measured)
{
    archive.text(measured.operator_id);
    archive.text(measured.parameters_key);
    for (auto* amount : {&measured.operations, &measured.bytes, &measured.median_s, &measured.ci_low_s,
                         &measured.ci_high_s, &measured.error, &measured.tolerance, &measured.start_up_s})
        archive.real(*amount, NumberRange::kAmount);
    archive.text(measured.probe_run_id);
    archive.moment(measured.measured_at);
}

template <class Archive, class T, class Fields>
void shared_list_fields(Archive& archive, T& list, const Fields& item_fields)
{
    if constexpr (Archive::kReads) {
        std::vector<typename T::value_type> values;
        list_fields(archive, values, item_fields);
        list = std::move(values);
    } else {
        list_fields(archive, list, item_fields);
    }
}

template <class Archive, FieldsOf<KnownRun> T>
void fields(Archive& archive, T& run)
{
    archive.text(run.job_id);
    archive.text(run.unit_type);
    archive.text(run.place);
    for (auto* amount : {&run.run_s, &run.waiting_share, &run.parallelism})
        archive.real(*amount, NumberRange::kAmount);
    archive.integer(run.cores);
    list_fields(archive, run.operators, [&](auto& demand) { fields(archive, demand); });
    for (auto* measurements : {&run.measured, &run.one_core})
        shared_list_fields(archive, *measurements, [&](auto& measured) { fields(archive, measured); });
}

template <class Archive, FieldsOf<HourOfWeek> T>
void fields(Archive& archive, T& hour)
{
    archive.integer(hour.count);
    if (hour.count == 0) return;
    archive.real(hour.median_bytes, NumberRange::kAmount);
    archive.real(hour.spread, NumberRange::kAmount);
    archive.expect(hour.median_bytes > 0, "a bandwidth is not above 0");
}

template <class Archive, FieldsOf<NetworkProfile::Known> T>
void fields(Archive& archive, T& known)
{
    std::int64_t hour = known.calendar.hour.count();
    archive.integer(hour, 1, 3'600'000'000);
    if constexpr (Archive::kReads) known.calendar.hour = Timestamp::duration(hour);
    for (auto& one : known.hours)
        fields(archive, one);
    for (auto& one : known.days)
        fields(archive, one);
    fields(archive, known.overall);
}

template <class Archive, FieldsOf<Hold> T>
void fields(Archive& archive, T& hold)
{
    archive.text(hold.project);
    archive.real(hold.from_s);
    archive.real(hold.to_s, NumberRange::kForEver);
    archive.integer(hold.unit_count);
}

template <class Archive, FieldsOf<Closure> T>
void fields(Archive& archive, T& closure)
{
    archive.real(closure.from_s);
    archive.real(closure.to_s, NumberRange::kForEver);
}

template <class Archive, FieldsOf<PastRun> T>
void fields(Archive& archive, T& run)
{
    archive.text(run.owner);
    archive.text(run.project);
    archive.text(run.job_type);
    archive.text(run.unit_type);
    archive.integer(run.unit_count);
    archive.choice(run.basis, RawBasis::kReference);
    for (auto* time : {&run.raw_s, &run.raw_low_s, &run.raw_high_s, &run.predicted_s, &run.low_s, &run.high_s,
                       &run.width_factor, &run.actual_s})
        archive.real(*time, NumberRange::kAmount);
    archive.moment(run.ended_at);
    if (archive.version() < 7) return;
    archive.real(run.asked_s, NumberRange::kAmount);
    archive.flag(run.is_cut_off);
    if (archive.version() < 16) return;
    archive.real(run.slowdown, NumberRange::kAmount);
    if (archive.version() < 19) return;
    archive.moment(run.decided_at);
}

template <class Archive, FieldsOf<WaitModel> T>
void fields(Archive& archive, T& model)
{
    for (auto* quantiles : {&model.extra_s, &model.ratio}) {
        archive.real(quantiles->low);
        archive.real(quantiles->middle);
        archive.real(quantiles->high);
    }
}

template <class Archive, FieldsOf<FitPart> T>
void fields(Archive& archive, T& part)
{
    archive.real(part.bias);
    archive.real(part.factor);
    std::uint64_t count = part.count;
    archive.number(count);
    if constexpr (Archive::kReads) part.count = count;
}

} // namespace fathom::cycle
