#include "simulator/engine/event.hpp"

namespace fathom::simulation {

std::vector<Event> openings_of(const Network& network)
{
    std::vector<Event> openings;
    for (std::uint32_t center = 0; center < network.centers.size(); ++center) {
        for (const Closure& closure : network.centers[center].closures) {
            if (closure.to_s > 0) openings.push_back({closure.to_s, EventKind::kOpen, center, 0});
        }
    }
    return openings;
}

} // namespace fathom::simulation
