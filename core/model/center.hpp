#pragma once

#include "core/base/json_reader.hpp"

#include <string>
#include <vector>

namespace fathom {

/// One unit type as a center's agent reports it (M8, M9).
struct UnitTypeReport {
    std::string name;                  ///< unique within the center
    std::string resource_type = "cpu"; ///< "cpu", "cuda"
    std::int64_t unit_count = 0;       ///< how many units of this type the center offers
    std::int64_t cores_per_unit = 0;
    std::int64_t memory_bytes_per_unit = 0;
    std::vector<std::string> operators; ///< ids that a unit of this type can run
    Json facts = Json::object();        ///< cpu_model, isa, numa_nodes, cache sizes, blas core type, …
};

/// Everything that a center offers.
struct Catalog {
    std::vector<UnitTypeReport> unit_types; ///< at most 100
    Json facts = Json::object();            ///< hostname, kernel, executor ("local"), …
};

/// Unknown fields are ignored: agents may be newer. @error kInvalid  with every field error.
Result<Catalog> parse_catalog(const Json& json, const std::string& path = "");
Json to_json(const Catalog& catalog);

} // namespace fathom
