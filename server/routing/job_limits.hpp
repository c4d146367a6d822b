#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <memory>
#include <string>

namespace fathom::server {

/// Whether jobs can keep their deadline, their budget and their project's quota anywhere, if everything that is busy or
/// closed now was theirs: what cannot is refused when it is submitted. Looks at the network once for all jobs that it
/// is asked about. Not thread-safe; `catalog` must outlive it.
class JobLimits {
  public:
    JobLimits(const CatalogSnapshot& catalog, Timestamp now);
    ~JobLimits();

    /// Whether it has any of them.
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
