#include "probes/operators/mpi_operator.hpp"

#include "probes/operators/exchange_operator.hpp"
#include "probes/operators/exchange_place.hpp"
#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/process_team.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

/// Of an MPI process without what it exchanges.
constexpr double kProcessBytes = 32.0 * (1 << 20);

Result<std::unique_ptr<ExchangeProcess>> start_mpi(const ExchangePlace& place, std::string_view kind, std::int64_t size,
                                                   std::uint64_t seed)
{
    const Result<MpiLauncher>& launcher = find_mpi_launcher();
    if (!launcher) return launcher.error();
    if (const Result<void> good = check_launcher(*launcher, place); !good) return good.error();
    return ExchangeProcess::start(mpi_command(*launcher, place, kind, size, seed),
                                  mpi_environment(own_environment(), place.is_slurm_job), "fathom-mpi-probe");
}

} // namespace

std::unique_ptr<ProbeOperator> make_mpi_operator(std::string_view kind, MpiRanks ranks, std::int64_t size, int threads)
{
    ExchangePlace place = exchange_place_here(threads);
    if (ranks == MpiRanks::kTwo && !place.is_slurm_job) place.processes = std::min(place.processes, 2);
    return make_exchange_operator(
        {.means = "MPI", .processes = place.processes, .start = [place, kind = std::string(kind), size](auto seed) {
             return start_mpi(place, kind, size, seed);
         }});
}

double mpi_memory(MpiRanks ranks, double (*bytes_each)(double size, double processes), std::int64_t size)
{
    const double processes = ranks == MpiRanks::kTwo ? 2 : exchange_place_here(most_processes()).processes;
    return processes * (kProcessBytes + bytes_each(static_cast<double>(size), processes));
}

} // namespace fathom::probes
