#pragma once

#include "core/decide/probing/job_type.hpp"
#include "core/decide/routing/route.hpp"
#include "core/model/gpu_memory.hpp"
#include "core/model/gpu_pair.hpp"
#include "server/catalog/catalog_calendars.hpp"
#include "server/catalog/catalog_projects.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom {
class PairModel;
}

namespace fathom::server {

/// One version of an operator of the library.
struct OperatorVersion {
    OperatorManifest manifest;
    bool is_withdrawn{false};
};

/// What jobs of a type, of one submitter and project, were seen to execute (M11).
struct KnownJobType {
    std::string owner; ///< who submitted them
    std::string project;
    OperatorMix mix;
    std::vector<OperatorUse> operators; ///< of a whole job; may be empty
    bool profiled{false};               ///< counted while it ran, not named by its submitter
    std::string learned_from;           ///< id of the job
    Timestamp learned_at{};
    std::shared_ptr<const KnownRun> known_run; ///< profiled where it can still be compared; nullptr: none is
};

/// The transfers that were timed on a unit type, and what they say; the first two tell whether there are new ones.
struct KnownNetwork {
    std::int64_t transfers{};
    Timestamp newest{};
    std::shared_ptr<const NetworkProfile> profile;
};
using KnownNetworks = std::map<std::string, KnownNetwork, std::less<>>; ///< by id of the unit type

/// What was measured of data between a center's nodes; all before `transfers` tells whether that is still so.
struct KnownNodeTransfers {
    std::int64_t results{};
    std::int64_t of_active{}; ///< of these, results of unit types that the catalog has
    Timestamp newest{};
    NodeTransfers transfers;
};
using KnownNodes = std::map<std::string, KnownNodeTransfers, std::less<>>; ///< by id of the center

/// Which measurements a catalog has: where these are the same, so are they.
struct MeasurementVersions {
    std::map<std::string, std::int64_t> operators_in_use;       ///< by id of the operator
    std::unordered_map<std::string, std::int64_t> unit_types{}; ///< by id; missing: never measured

    /// 0: never measured.
    std::int64_t of_unit_type(const std::string& id) const
    {
        const auto found = unit_types.find(id);
        return found == unit_types.end() ? 0 : found->second;
    }
};

/// The price book in force, prepared for decisions.
struct KnownPrices {
    std::int64_t version{};                ///< 0: no book is in force
    std::shared_ptr<const PriceBook> book; ///< nullptr with version 0
    /// By the place of the entry in the book, and the score of a unit where the entry has a price of score-hours.
    std::map<std::pair<std::size_t, double>, std::shared_ptr<const UnitPrice>> by_entry;
    std::optional<std::chrono::milliseconds> next_change; ///< after the read: when the next book comes into force

    /// Of all prices; empty: nothing has a price.
    std::string currency() const { return book == nullptr ? std::string() : book->currency; }
};

/// What jobs kept of their speed beside others on GPUs that they shared.
struct KnownGpuPairs {
    std::int64_t newest_run{};                         ///< that they were learned from; 0: none was
    std::shared_ptr<const std::vector<GpuPair>> pairs; ///< those with the newest runs first; nullptr: none
    std::shared_ptr<const PairModel> model;            ///< of the newest of them; nullptr: none
};

/// What runs had of a GPU's memory, by kind of the job (gpu_kind_of): what later ones are taken to need.
struct KnownGpuNeeds {
    std::int64_t newest_run{};                                              ///< that they are of; 0: none was
    std::shared_ptr<const std::map<std::string, GpuMemoryRequest>> by_kind; ///< nullptr: none
};

/// What jobs of two kinds kept of the pace of their iterations on a unit type, where both had the turn at once.
struct TurnPair {
    GpuPair pair; ///< `count`: how often two such jobs met
    std::string unit_type_id;
};
struct KnownTurnPairs {
    std::int64_t newest_us{};                           ///< when the newest was measured; 0: none was
    std::shared_ptr<const std::vector<TurnPair>> pairs; ///< those of the newest jobs first; nullptr: none
};

/// What the network offers and what was measured of it, at one moment. Never changed once made, so any
/// thread may read it.
struct CatalogSnapshot {
    /// Active unit types of centers that are not revoked, in order of id; nothing of them is reserved here.
    std::vector<UnitTypeView> unit_types;
    std::vector<std::int64_t> wall_limits;    ///< that there are (UnitTypeView::max_wall_s), in order, each once
    MeasurementVersions measurement_versions; ///< of what was measured on them
    std::map<std::string, std::map<std::int64_t, OperatorVersion>, std::less<>> operators;
    std::int64_t center_count{}; ///< enrolled and not revoked
    /// By name; of each submitter those that were learned last, newest first.
    std::map<std::string, std::vector<KnownJobType>, std::less<>> job_types;
    std::set<std::string, std::less<>> profiled_projects; ///< whose jobs are all profiled
    ProjectRulesByName projects;                          ///< what they may take
    ProjectMembers project_members;                       ///< of those that are not open to everybody
    KnownNetworks networks;                               ///< of unit types with timed transfers
    KnownNodes nodes;                                     ///< of centers where such was measured
    KnownPrices prices;
    /// Projects whose bill of this month has reached a budget that refuses more, with the words for it.
    std::map<std::string, std::string, std::less<>> spent_projects;
    UnitCalendar calendar;    ///< reservations and maintenance
    double gpu_threshold{1};  ///< S6
    RouteKnowledge knowledge; ///< what jobs that have run teach
    KnownGpuPairs gpu_pairs;
    KnownGpuNeeds gpu_needs;
    KnownTurnPairs turn_pairs;

    /// nullptr for one that is not in the catalog, or not any more.
    const UnitTypeView* find_unit_type(std::string_view id) const;
    /// `version` 0: the newest that is not withdrawn. nullptr when there is none.
    const OperatorVersion* find_operator(std::string_view id, std::int64_t version) const;
    /// What decisions call a version of an operator: its id, or `id@version` for another one than the one in use, whose
    /// measurements are of other work (M2).
    std::string operator_name(const OperatorManifest& manifest) const;
    /// The manifest of find_operator(), for core/decide.
    ManifestLookup manifests() const;
    /// The least limit that the same places allow as this one: jobs that differ in nothing else are decided together.
    std::int64_t least_wall_limit(std::int64_t wall_limit_s) const;
    /// What the owner's own jobs of the project taught; nullptr when they taught nothing.
    const KnownJobType* find_own_job_type(std::string_view name, RunOwner owner) const;
    /// The same, else what the owner's jobs of other projects taught, else jobs of the project; nullptr when nothing
    /// did. What others do elsewhere is nothing to go by.
    const KnownJobType* find_job_type(std::string_view name, RunOwner owner) const;
    /// The type of a job of this owner (job_type_for): the nearest of the owner's own, else of the project's.
    JobType type_of(const JobSpec& spec, std::string_view owner) const;
};

using CatalogPointer = std::shared_ptr<const CatalogSnapshot>;

/// What the router must know of a job at the moment `now`, with the work of each operator from its manifest's formulas.
/// @error kInvalid  an operator or version that the library does not have; nothing else, once a job was admitted.
Result<RouteRequest> make_route_request(const JobSpec& spec, const CatalogSnapshot& catalog, Timestamp now);

/// Whose job a request is of.
struct JobOrigin {
    std::string job_type;
    std::string owner;
    bool takes_operators{}; ///< from its type: it names none itself
};
/// Lets history and the type's known run speak for the request.
void set_origin(RouteRequest& request, JobOrigin origin, const CatalogSnapshot& catalog);

/// The part of a request that needs no formulas: what the job names itself, without its operators, its type and the
/// rules of its project. A budget in another currency than the prices' is 0.
RouteRequest make_route_terms(const JobSpec& spec, const CatalogSnapshot& catalog, Timestamp now);

/// The same for what must be measured before the job's first run (M10): the operators of its probe task, where sizes
/// of a class are joined, instead of every size of its own.
Result<RouteRequest> make_metering_request(const JobSpec& spec, const CatalogSnapshot& catalog);

} // namespace fathom::server
