#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/mpi_operator.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

/// A message in one process, in the other as many as are under way at the same time (probes/mpi).
double mpi_bandwidth_bytes(double size, double /*processes*/)
{
    return size + std::min(64 * size, std::max(size, 16.0 * (1 << 20)));
}

std::unique_ptr<ProbeOperator> make_mpi_bandwidth(const Parameters& parameters, int threads)
{
    return make_mpi_operator("bandwidth", MpiRanks::kTwo, parameters.at("bytes"), threads);
}

double mpi_bandwidth_memory(const Parameters& parameters)
{
    return mpi_memory(MpiRanks::kTwo, mpi_bandwidth_bytes, parameters.at("bytes"));
}

} // namespace

CpuImplementation mpi_bandwidth_on_cpu()
{
    return {.make = make_mpi_bandwidth, .memory = mpi_bandwidth_memory, .available = mpi_available};
}

} // namespace fathom::probes
