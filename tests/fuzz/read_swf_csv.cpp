#include "simulator/workloads/read_formats.hpp"
#include "tests/fuzz/workload_checks.hpp"

/// Whatever a log holds, read_swf_csv() reads jobs that can be simulated, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fathom::fuzz::check_workload(fathom::fuzz::text_of(data, size), fathom::simulation::read_swf_csv);
    return 0;
}
