#pragma once

#include "core/base/result.hpp"
#include "simulator/world/scenario.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// The worlds that rules for the order of waiting jobs are compared in.
namespace fathom::simulation {

struct OrderingWorld {
    std::string name;
    std::function<Scenario(std::uint64_t seed)> draw;
    std::uint64_t most_seeds = 1000; ///< with more, draws repeat
    bool is_reference = false;       ///< the published case: 36 + 36 + 36, single GPUs, 5.6 jobs an hour
};

/// The worlds that the order rule is chosen by: loads from half to overload, other clusters, errors of prediction,
/// jobs of several GPUs, other durations, a log on unlike centers, and a heap of jobs that come at once. Run times are
/// known exactly where the world's name does not say how well.
/// @param folder  with the public sets, or excerpts of them: gavel/, swf/, uob/.
/// @error kNotFound  a file is missing.
/// @error kInvalid   one cannot be read; says where.
Result<std::vector<OrderingWorld>> ordering_worlds(const std::filesystem::path& folder);

} // namespace fathom::simulation
