#pragma once

#include "cli/simulate/unlike_centers.hpp"
#include "cli/simulate/workload_gavel.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fathom {

/// Where the public measurements lie, in the folders in which the data set keeps them.
struct OrderingData {
    std::string gavel;          ///< gavel/solo.csv
    std::string log;            ///< swf/….csv
    std::string devices;        ///< uob/devices_2019.csv
    std::string specifications; ///< uob/device_spec_2019.csv
};

/// A network with its work, drawn anew for each seed.
struct OrderingWorld {
    std::string name;
    std::function<SimulatedWorld(std::uint64_t seed)> draw;
    std::uint64_t most_seeds = 1000; ///< with more, draws repeat
    bool is_reference = false;       ///< the published case: 36 + 36 + 36, single GPUs, 5.6 jobs an hour
};

/// The worlds that the order rule is chosen by: loads from half to overload, other clusters, errors of prediction,
/// jobs of several GPUs, other durations, a log on unlike centers, and a heap of jobs that come at once.
/// @error kInvalid  the data cannot be read.
Result<std::vector<OrderingWorld>> ordering_worlds(const OrderingData& data);

} // namespace fathom
