#pragma once

#include "core/base/clock.hpp"
#include "server/events/job_event_log.hpp"
#include "server/probing/probe_ports.hpp"
#include "server/routing/catalog_cache.hpp"
#include "server/routing/prediction_store.hpp"
#include "server/routing/routing_store.hpp"
#include "server/routing/waiting_job_ender.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace fathom::server {

/// What a pass of the router carries from page to page. A value: a transaction that runs again begins with the
/// same one.
struct PassState {
    std::string after;                ///< id of the last job that was looked at
    std::vector<Reservation> planned; ///< for jobs that were looked at and wait
    bool is_tick{false};              ///< look at waiting jobs even when no unit is free
    /// Job types whose probes have ended; looked up by the first page.
    std::vector<std::string> metered_types;
    std::map<std::string, std::string> refusals; ///< of those, why their probe task was refused
    bool are_types_known{false};
};

/// What one page did.
struct PageReport {
    PassState next;
    bool is_done{false};       ///< nothing more to do in this pass
    bool is_end{false};        ///< no waiting job comes after these
    bool has_free_unit{false}; ///< after what was placed and planned
    std::int64_t placed{};
    std::int64_t waiting{};
    std::int64_t metering{};
    std::int64_t conflicts{}; ///< placements that another replica's made impossible; decided again
    std::int64_t overdue{};   ///< ended, since their deadline had passed
    double decision_s{};      ///< time in decisions
    /// When the first of these jobs that wait for a network window must be looked at again.
    std::optional<Timestamp> next_window;
};

struct RoutingSettings {
    ReplicaId replica;
    std::chrono::seconds metering_period{604800};
};

/// Routes one page of waiting jobs inside one transaction: claim, decide on a working copy, lock what was
/// chosen, check again, write. Not thread-safe; one object for each page.
class RoutingPage {
  public:
    RoutingPage(const RoutingSettings& settings, CatalogCache& catalog, ProbePlanner& planner, WaitingJobEnder& ender,
                Timestamp now);

    /// Blocks; pqxx's exceptions pass through. @error what the planner said, when it could not work now.
    Result<PageReport> run(pqxx::work& transaction, PassState state, std::int64_t limit);

  private:
    /// A decision that starts its job now.
    struct Placement {
        JobId job;
        Decision decision;
        Candidate winner;
        bool has_run_time{false};
        bool is_probe{false};
        NewPrediction prediction; ///< kept unless it is a probe
        std::string inputs;       ///< JSON text of what was decided on; empty for a probe
        std::string project;
    };

    Result<void> route_job(pqxx::work& transaction, const WaitingJob& job);
    /// M10. True when the job now waits for probes.
    Result<bool> meter(pqxx::work& transaction, const WaitingJob& job);
    void start_metering(const WaitingJob& job, const RouteRequest& wanted, const RequestedProbes& probes);
    /// Why a job is placed without the probes that it should have had; for its events.
    void note_obstacle(const WaitingJob& job, const std::string& obstacle);
    void finish_metering(pqxx::work& transaction, const WaitingJob& job);
    Result<void> find_metered_types(pqxx::work& transaction);
    /// The operators of a job for a decision, and those of its probe task; each computed once for equal jobs.
    struct KnownDemands {
        std::vector<OperatorDemand> own;
        std::vector<OperatorDemand> probed;
    };
    Result<const KnownDemands*> demands_of(const WaitingJob& job);
    Result<RouteRequest> request_of(const WaitingJob& job);
    Result<RouteRequest> metering_request_of(const WaitingJob& job);
    /// Asks for probes, once for all jobs of this page that ask for the same.
    Result<RequestedProbes> request_probes(pqxx::work& transaction, const WaitingJob& job,
                                           const std::vector<UnitTypeId>& targets);
    std::vector<std::string> unmeasured_places(const RouteRequest& request) const;
    /// Ends a job whose deadline has passed; false: there was time left.
    Result<bool> end_overdue(pqxx::work& transaction, const WaitingJob& job);
    Result<void> place_or_wait(const WaitingJob& job, const RouteRequest& request);
    /// Keeps why a job waits, where that has changed.
    void note_reason(const WaitingJob& job, const std::string& reason);
    void commit_placements(pqxx::work& transaction);
    void rebuild_ledger(pqxx::work& transaction);
    /// The decisions of this page must not rest on an older catalog than the probes that just ended.
    void ensure_fresh_catalog(pqxx::work& transaction);
    bool is_worth_a_look(const WaitingJob& job) const;

    const RoutingSettings* settings_;
    CatalogCache* cache_;
    ProbePlanner* planner_;
    WaitingJobEnder* ender_;
    Timestamp now_;
    CatalogPointer catalog_;
    bool is_fresh_ = false;
    UnitLedger ledger_;
    PageReport report_;
    std::vector<Placement> placements_;
    std::vector<WaitingReason> reasons_;
    std::vector<NewJobEvent> events_;
    std::vector<MeteringStart> metering_;
    std::vector<std::string> metered_;
    std::map<std::string, RequestedProbes> requested_;  ///< by job type, operators and unit types
    std::map<std::string, KnownDemands> known_demands_; ///< by operators: formulas are slow
};

} // namespace fathom::server
