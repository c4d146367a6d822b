#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/mpi_operator.hpp"

namespace fathom::probes {
namespace {

double mpi_allreduce_bytes(double size, double /*processes*/)
{
    return 2 * sizeof(double) * size;
}

std::unique_ptr<ProbeOperator> make_mpi_allreduce(const Parameters& parameters, int threads)
{
    return make_mpi_operator("allreduce", MpiRanks::kAll, parameters.at("n"), threads);
}

double mpi_allreduce_memory(const Parameters& parameters)
{
    return mpi_memory(MpiRanks::kAll, mpi_allreduce_bytes, parameters.at("n"));
}

} // namespace

CpuImplementation mpi_allreduce_on_cpu()
{
    return {.make = make_mpi_allreduce, .memory = mpi_allreduce_memory, .available = mpi_available};
}

} // namespace fathom::probes
