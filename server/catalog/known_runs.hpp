#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <memory>
#include <string>

namespace fathom::server {

/// What of a profiled run is kept with its job type: all but the measurements, which are those of today.
struct KeptRun {
    std::string unit_type_id;
    double run_s{};
    double waiting_share{};
    double parallelism{1};
    std::vector<OperatorDemand> operators; ///< with shares and work
};
Json to_json(const KeptRun& run);

/// A kept run, comparable with other unit types. nullptr where its unit type has left the network, or what was kept
/// cannot be read.
/// @param job      that it was of.
/// @param catalog  with its unit types, in order of id, and what is measured of them.
std::shared_ptr<const KnownRun> read_known_run(const Json& kept, const std::string& job,
                                               const CatalogSnapshot& catalog);

} // namespace fathom::server
