#include "server/probing/tasks/full_benchmark_task.hpp"

#include "core/decide/probing/size_beyond_caches.hpp"

#include <string_view>

namespace fathom::server {
namespace {

/// Fewest that still give a median with an interval: with all operators each sample counts.
constexpr std::int64_t kFullBenchmarkRepeats = 5;

/// Beyond those: a full benchmark is to take seconds.
constexpr double kFullBenchmarkBudget_s = 6;

/// What a fetch takes changes with the hour (M20), so one look says little, and a server that is asked by all
/// units at once refuses some.
constexpr std::string_view kMeasuredOverTime = "network_fetch";

} // namespace

std::vector<OperatorUse> full_benchmark_operators(const OperatorLibrary& library, const UnitTypeOffer& offer)
{
    std::vector<OperatorUse> operators;
    for (const OperatorLibrary::Version* version : library.newest()) {
        const OperatorManifest& manifest = version->manifest;
        if (manifest.is_uploaded() || manifest.id == kMeasuredOverTime || is_exchange_operator(manifest.id)) continue;
        if (!offer.runs({manifest.id})) continue;
        OperatorUse use;
        use.id = manifest.id;
        use.version = manifest.version;
        use.parameters = size_beyond_caches(manifest, offer.memory);
        operators.push_back(std::move(use));
    }
    return operators;
}

ProbeTask full_benchmark_task(std::vector<OperatorUse> operators)
{
    ProbeTask task;
    task.name = "default";
    task.limit_s = kFullBenchmarkLimit_s;
    task.sample_budget_s = kFullBenchmarkBudget_s;
    task.repeats = kFullBenchmarkRepeats;
    task.operators = std::move(operators);
    return task;
}

} // namespace fathom::server
