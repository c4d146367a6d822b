#pragma once

#include "simulator/world/centers_file.hpp"

namespace fathom::simulation {

/// What parse_centers() reads as the same network. Rates that came of operators' speeds are written as rates.
Json to_json(const CentersFile& file);
Json to_json(const KnowledgeSettings& knowledge);

} // namespace fathom::simulation
