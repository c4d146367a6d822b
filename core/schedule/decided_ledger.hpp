#pragma once

#include "core/schedule/schedule.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// A ledger, with what projects hold and have used. Each start changes both; between two starts the jobs of a kind
/// share one decision. Part of core/schedule/schedule. Not thread-safe. The constructor's arguments must outlive the
/// object.
class DecidedLedger {
  public:
    DecidedLedger(UnitLedger& units, const ScheduleInput& input)
        : units_(&units), projects_{input.project_uses, input.quota_uses}
    {
        units.know_pairs(input.gpu_pairs);
    }

    const UnitLedger& units() const { return *units_; }
    /// The job's request with what its project has used.
    RouteRequest request_of(const ReadyJob& job) const;
    std::shared_ptr<const Decision> decide(const ReadyJob& job);
    /// As decide(), but brief; the decision is not kept for other jobs of the kind.
    BriefDecision decide_briefly(const ReadyJob& job) { return units_->decide_briefly(request_of(job)); }
    /// Decides on a request that belongs to no job.
    Decision decide(const RouteRequest& request) { return units_->decide(request); }
    /// The places that decide() would choose from.
    OfferedPlaces offered_places(const ReadyJob& job) { return units_->offered_places(request_of(job)); }
    /// As UnitLedger::inputs_of(): before the job's own units are taken.
    std::string inputs_of(const RouteRequest& request, const Decision& decision)
    {
        return units_->inputs_of(request, decision);
    }
    /// What each named project holds and has used.
    const std::vector<ProjectUse>& project_uses() const { return projects_.uses; }
    /// Adds the project to project_uses(), with nothing used if it was not there.
    void name_project(const std::string& project) { add_units(projects_.uses, {project, {}, 0}); }

    void reserve(const Reservation& reservation);
    /// Notes that the job starts at this place and holds its units for `held_s` seconds.
    void start(const RouteRequest& request, const Candidate& winner, double held_s);

    /// Changes after this call can be undone until the trial is kept or undone. One trial at a time.
    void begin_trial();
    void keep_trial();
    void undo_trial();

  private:
    struct Projects {
        std::vector<ProjectUse> uses;
        QuotaUses quota_uses;
    };

    UnitLedger* units_;
    Projects projects_;
    std::optional<Projects> before_trial_;
    std::map<std::string, std::shared_ptr<const Decision>, std::less<>> decisions_; ///< by kind
};

/// The units that a job takes whose decision has this winner, and when.
Reservation reservation_of(const RouteRequest& request, const Candidate& winner);

} // namespace fathom
