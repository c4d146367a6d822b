#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/mpi_operator.hpp"

namespace fathom::probes {
namespace {

double mpi_latency_bytes(double size, double /*processes*/)
{
    return 2 * size;
}

std::unique_ptr<ProbeOperator> make_mpi_latency(const Parameters& parameters, int threads)
{
    return make_mpi_operator("latency", MpiRanks::kTwo, parameters.at("bytes"), threads);
}

double mpi_latency_memory(const Parameters& parameters)
{
    return mpi_memory(MpiRanks::kTwo, mpi_latency_bytes, parameters.at("bytes"));
}

} // namespace

CpuImplementation mpi_latency_on_cpu()
{
    return {.make = make_mpi_latency, .memory = mpi_latency_memory, .available = mpi_available};
}

} // namespace fathom::probes
