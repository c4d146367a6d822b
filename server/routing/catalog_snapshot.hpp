#pragma once

#include "core/decide/route.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// One version of an operator of the library.
struct OperatorVersion {
    OperatorManifest manifest;
    bool is_withdrawn{false};
};

/// What the network offers and what was measured of it, at one moment. Never changed once made, so any
/// thread may read it.
struct CatalogSnapshot {
    /// Active unit types of centers that are not revoked, in order of id; nothing of them is reserved here.
    std::vector<UnitTypeView> unit_types;
    /// The same without measurements and always open, for the question whether a job could ever run.
    std::vector<UnitTypeView> shapes;
    std::map<std::string, std::map<std::int64_t, OperatorVersion>, std::less<>> operators;
    std::int64_t center_count{}; ///< enrolled and not revoked

    /// `version` 0: the newest that is not withdrawn. nullptr when there is none.
    const OperatorVersion* find_operator(std::string_view id, std::int64_t version) const;
};

using CatalogPointer = std::shared_ptr<const CatalogSnapshot>;

/// What the router must know of a job, with the work of each operator from its manifest's formulas.
/// @error kInvalid  an operator or version that the library does not have; nothing else, once a job was admitted.
Result<RouteRequest> make_route_request(const JobSpec& spec, const CatalogSnapshot& catalog);

} // namespace fathom::server
