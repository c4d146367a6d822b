#pragma once

#include "core/schedule/schedule.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// A ledger and what projects hold and have used, as both change with each start; jobs of a kind are decided once while
/// they do not. Part of core/schedule/schedule. Not thread-safe; what it is made with must outlive it.
class DecidedLedger {
  public:
    DecidedLedger(UnitLedger& units, const ScheduleInput& input)
        : units_(&units), projects_{input.project_uses, input.quota_uses}
    {
    }

    const UnitLedger& units() const { return *units_; }
    /// The job's request with what its project has used.
    RouteRequest request_of(const ReadyJob& job) const;
    std::shared_ptr<const Decision> decide(const ReadyJob& job);
    /// The same as a BriefDecision, which is not kept.
    BriefDecision decide_briefly(const ReadyJob& job) { return units_->decide_briefly(request_of(job)); }
    /// The same of a request that is no job's own.
    Decision decide(const RouteRequest& request) { return units_->decide(request); }
    /// What the job's decision would choose from.
    OfferedPlaces offered_places(const ReadyJob& job) { return units_->offered_places(request_of(job)); }
    /// What projects hold and have used, each that is named here.
    const std::vector<ProjectUse>& project_uses() const { return projects_.uses; }
    /// So that the project counts, also when it has used nothing yet.
    void name_project(const std::string& project) { add_units(projects_.uses, {project, {}, 0}); }

    void reserve(const Reservation& reservation);
    /// The job starts at this place, and holds its units for so long.
    void start(const RouteRequest& request, const Candidate& winner, double held_s);

    /// From here on, until the trial ends, what has changed can be taken back. One at a time.
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

/// What a job that has this winner takes, and when.
Reservation reservation_of(const RouteRequest& request, const Candidate& winner);

} // namespace fathom
