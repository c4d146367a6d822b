#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/schedule/unmeasured_places.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/catalog/columns_of_catalog.hpp"
#include "server/routing/batch/routing_store.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// A key that is the same for lists of operators that are the same.
std::string key_of_operators(const std::vector<OperatorUse>& operators);

/// What a batch asks for its jobs: of one catalog, at one moment. What follows from a specification is computed once
/// for equal jobs. Not thread-safe.
class BatchRequests {
  public:
    BatchRequests(CatalogPointer catalog, ColumnsOfCatalog& columns, Timestamp now);
    BatchRequests(const BatchRequests&) = delete; // what it keeps refers to what it keeps
    BatchRequests& operator=(const BatchRequests&) = delete;
    BatchRequests(BatchRequests&&) = default;
    BatchRequests& operator=(BatchRequests&&) = default;
    ~BatchRequests() = default;

    const CatalogPointer& catalog() const { return catalog_; }
    Timestamp now() const { return now_; } ///< of the decisions
    /// From here on this catalog; the operators of jobs stay as they were found.
    void set_catalog(CatalogPointer catalog, ColumnsOfCatalog& columns);

    /// @error kInvalid  the job's operators are not known.
    Result<RouteRequest> request_of(const WaitingJob& job);
    /// What is to be measured before the first run of such jobs (M10). @error as request_of()
    Result<RouteRequest> metering_request_of(const WaitingJob& job);
    /// spec_kind_of() of the catalog.
    const std::string& kind_of_spec(const std::shared_ptr<const KnownSpec>& spec);
    /// UnmeasuredPlaces::find(): indices into the catalog's unit types; valid until the catalog changes.
    const std::vector<std::size_t>& unmeasured(const RouteRequest& request, std::chrono::seconds period)
    {
        return unmeasured_->find(request, period);
    }
    /// "CENTER/UNIT_TYPE" of each place, which is an index into the catalog's unit types.
    std::vector<std::string> names_of(const std::vector<std::size_t>& places) const;

  private:
    /// The operators of a job for a decision, and those of its probe task.
    struct KnownDemands {
        std::vector<OperatorDemand> own;
        std::vector<OperatorDemand> probed;
    };
    Result<const KnownDemands*> demands_of(const WaitingJob& job);

    CatalogPointer catalog_;
    Timestamp now_;
    std::optional<UnmeasuredPlaces> unmeasured_;        ///< of the catalog
    std::map<std::string, KnownDemands> known_demands_; ///< by operators: formulas are slow
    // Specifications are known by their addresses, which so stay theirs.
    std::unordered_map<std::shared_ptr<const KnownSpec>, const KnownDemands*> demands_of_spec_;
    std::unordered_map<std::shared_ptr<const KnownSpec>, std::string> spec_kinds_;
};

} // namespace fathom::server
