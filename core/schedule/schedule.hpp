#pragma once

#include "core/decide/queue/fair_share.hpp"
#include "core/decide/queue/order_jobs.hpp"
#include "core/schedule/probe_hosts.hpp"
#include "core/schedule/project_use.hpp"
#include "core/schedule/unit_ledger.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom {

/// A waiting job that is ready to be decided.
struct ReadyJob {
    std::string id;
    RouteRequest request; ///< `used` is filled in from the input's quota_uses
    double waited_s{};
    std::int64_t priority = 0;
    std::string gang; ///< project and gang, all of whose members are here; empty: none
    std::int64_t gang_size = 0;
    std::string kind; ///< equal for jobs whose requests are equal
};

/// What is known of the load of unit types, by id.
struct UnitTypeLoads {
    /// 0..1: how busy the units have been of late (BusyShare). Missing: 1.
    std::unordered_map<std::string, double> busy_shares;
    /// What they are worth to the jobs that came of late (arrival_shadow_prices() of job_arrivals.hpp). Missing: what
    /// they are worth to the jobs that wait.
    std::unordered_map<std::string, double> shadow_prices;
};

/// What a scheduling cycle decides on, beside the units (UnitLedger): nothing else is asked, so that the same input
/// gives the same plan, anywhere and at any time.
struct ScheduleInput {
    std::vector<ReadyJob> jobs; ///< in order of id
    /// What projects hold and have used.
    std::vector<ProjectUse> project_uses;
    QuotaUses quota_uses;
    /// Never null. Cycles share it until it is looked at again: in a large network it is the largest part.
    std::shared_ptr<const UnitTypeLoads> loads = std::make_shared<const UnitTypeLoads>();
    /// Short jobs may be sent to their center before there is a unit for them.
    bool may_queue{};
    /// By unit type: how many more jobs may wait for its units at the center. Missing: kMaxQueuedPerUnit for each.
    std::unordered_map<std::string, std::int64_t> queue_room;
    /// Of the centers of probes among the jobs: at each host one probe at a time is measured, so that another one that
    /// had units already would keep them from jobs until it may start.
    ProbeHostsOfCenters probe_hosts;
    /// What jobs that share a GPU keep beside each other, of the kinds of the jobs and of those that have parts of GPUs
    /// (RouteRequest::gpu_kind); nullptr: nothing is known.
    std::shared_ptr<const PairTable> gpu_pairs;
    OrderSettings settings;
    /// Index into the jobs, of one whose decision is wanted with all places and texts even where it waits. The plan is
    /// the same. Not kept with the cycle.
    std::optional<std::size_t> explained_job{};
};

/// A job that goes to its center now. Its units are taken in the ledger.
struct ScheduledStart {
    std::size_t job{}; ///< index into the jobs
    Decision decision;
    Candidate winner;
    std::string inputs; ///< JSON text: what it was decided by; empty for a probe
    bool is_queued{};   ///< its unit is not free yet: it waits for one at its center, for the winner's wait_s
};

/// A job that waits.
struct ScheduledWait {
    std::size_t job{};
    /// Equal jobs share one; never null. For most a BriefDecision's.
    std::shared_ptr<const Decision> decision;
    bool waits_for_units{};               ///< it starts as soon as the winner's units are free
    bool waits_for_host{};                ///< a probe, until the winner's host has ended another one
    std::optional<Reservation> planned{}; ///< what the ledger keeps for it
    /// The free place that it leaves: it does better to wait for the winner.
    std::optional<Candidate> left_free{};
    double priority_rank{}; ///< smaller goes first
};

struct SchedulePlan {
    std::vector<ScheduledStart> starts;
    std::vector<ScheduledWait> waits; ///< in order of job
    /// ScheduleInput's, less what the starts have taken of it.
    std::unordered_map<std::string, std::int64_t> queue_room;
};

/// The priority rank of jobs that cannot start anywhere now, whatever is free: they are looked at last.
inline constexpr double kLastRank = 1e6;

/// Units are planned for so many of the jobs that wait for units, those of the smallest priority ranks: nothing starts
/// that would delay these. What the others are told of their start is as if nobody but these went before them.
inline constexpr std::size_t kMaxPlanned = 64;

/// Jobs that wait for their unit at the center (ScheduleInput::may_queue) are short, for which the way there and back
/// takes longer than they do, and known to be short by so many runs there: behind a long one they could not go where
/// units become free sooner.
inline constexpr double kMaxQueuedRun_s = 1;
inline constexpr std::int64_t kMinRunsOfQueued = 3;
/// Their unit is expected to be free so soon.
inline constexpr double kMaxQueued_s = 2;
inline constexpr std::int64_t kMaxQueuedPerUnit = 16;
/// Where jobs may wait at centers, one holds its unit for so long at least; else, with a way here and back between two,
/// for a second.
inline constexpr double kMinHeldWithQueue_s = 0.02;

/// Decides which of the waiting jobs start now, and where; the others get a plan. No I/O, no clock, no state.
///
/// Each job's places on what is free are found (core/decide/routing/route); core/decide/queue/order_jobs says who
/// starts where, by run times and what unit types are worth to the jobs, with the load of each job's project counted as
/// if the project's jobs before it had started. What a start leaves is looked at again, until nothing more starts. The
/// others are planned in order of priority rank; what still fits without delaying those before it starts, too, unless
/// it does better to wait for another place than to take what is free (docs/routing.md "Order under load"). Probes
/// whose host has another one wait for its end, and nothing is kept for them.
///
/// @param units  what is free at the moment of the decisions; starts and plans are reserved in it.
SchedulePlan schedule(UnitLedger& units, const ScheduleInput& input);

} // namespace fathom
