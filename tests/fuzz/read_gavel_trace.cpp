#include "tests/fuzz/workload_checks.hpp"

/// Whatever a job list of Gavel holds, read_gavel_trace() reads jobs of the types that were measured, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::istringstream stream{std::string(fathom::fuzz::text_of(data, size))};
    fathom::fuzz::check_workload_input(
        fathom::simulation::read_gavel_trace(stream, FATHOM_FUZZ_BESIDE "/physical_traces.csv", {}));
    return 0;
}
