#pragma once

#include "core/schedule/cycle_document.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A plan as it is kept beside its cycle: small, and enough to tell whether the same came out again.
namespace fathom {

/// What a plan says of one job.
struct PlannedJob {
    std::size_t job{}; ///< index into the cycle's jobs
    bool is_start{};
    // Of its winner; empty and 0 without one.
    std::string unit_type_id;
    std::int64_t unit_count{};
    double start_s{};
    double run_s{};
    double completion_s{};
    double cost{};
    double energy_j{};
    double objective{};
    std::string rank_text; ///< Decision::rank_text
    // Of one that waits.
    bool waits_for_units{};
    bool waits_for_host{};
    std::optional<Reservation> planned;
    std::string left_free; ///< id of the unit type; empty: none
    double priority_rank{};
    /// Fingerprint of every number of its decision: of one that starts, of all places. 0: not kept.
    std::uint64_t figures{};
};

/// The starts in order, then those that wait, in order of job.
using PlanRecord = std::vector<PlannedJob>;

PlanRecord record_of(const SchedulePlan& plan);

std::string write_plan(const PlanRecord& record);
/// @error kInvalid  it is no such document, or none of this version
Result<PlanRecord> read_plan(std::string_view document);

/// In what they differ, for people, the first ones: "job_…: starts at alpha/core was stored, waits for beta/core came
/// out". Empty: bit for bit the same.
std::vector<std::string> plan_differences(const PlanRecord& stored, const PlanRecord& again,
                                          const std::vector<ReadyJob>& jobs, std::span<const UnitTypeView> unit_types);

} // namespace fathom
