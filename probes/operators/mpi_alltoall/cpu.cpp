#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/mpi_operator.hpp"

namespace fathom::probes {
namespace {

double mpi_alltoall_bytes(double size, double processes)
{
    return 2 * size * processes;
}

std::unique_ptr<ProbeOperator> make_mpi_alltoall(const Parameters& parameters, int threads)
{
    return make_mpi_operator("alltoall", MpiRanks::kAll, parameters.at("bytes"), threads);
}

double mpi_alltoall_memory(const Parameters& parameters)
{
    return mpi_memory(MpiRanks::kAll, mpi_alltoall_bytes, parameters.at("bytes"));
}

} // namespace

CpuImplementation mpi_alltoall_on_cpu()
{
    return {.make = make_mpi_alltoall, .memory = mpi_alltoall_memory, .available = mpi_available};
}

} // namespace fathom::probes
