#include "probes/operators/exchange_place.hpp"

#include "core/base/parse_number.hpp"
#include "probes/operators/launcher_words.hpp"

namespace fathom::probes {
namespace {

constexpr int kMaxTasks = 1'000'000;

} // namespace

ExchangePlace exchange_place(int threads, std::string_view slurm_tasks)
{
    const std::optional<int> tasks = parse_number<int>(slurm_tasks);
    if (!tasks || *tasks < 2 || *tasks > kMaxTasks) return {threads, false};
    return {*tasks, true};
}

ExchangePlace exchange_place_here(int threads)
{
    return exchange_place(threads, environment_text("SLURM_NTASKS"));
}

} // namespace fathom::probes
