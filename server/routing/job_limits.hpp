#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <memory>
#include <string>

namespace fathom::server {

/// Whether jobs could keep their deadline, their budget and their project's quota anywhere if all units, also those
/// that are busy or closed now, were free for them. Jobs that could not are refused when they are submitted. Looks at
/// the network once for all jobs. Not thread-safe; `catalog` must outlive the object.
class JobLimits {
  public:
    JobLimits(const CatalogSnapshot& catalog, Timestamp now);
    ~JobLimits();

    /// Whether the job has a deadline, a budget or a quota.
    static bool has_limit(const JobSpec& spec, const CatalogSnapshot& catalog);
    /// @error kInfeasible  with what could be kept instead: "no center can finish before 18:00 UTC; the earliest is
    /// 18:40 UTC at beta/core".
    Result<void> check(const JobSpec& spec, const JobOrigin& origin);

  private:
    struct Network;
    const CatalogSnapshot* catalog_;
    Timestamp now_;
    std::unique_ptr<Network> network_; ///< made when it is first needed
};

} // namespace fathom::server
