#include "simulator/workloads/workload_lines.hpp"
#include "tests/fuzz/workload_checks.hpp"

/// Whatever stands in lines of jobs, read_job_lines() reads jobs that can be simulated, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::istringstream stream{std::string(fathom::fuzz::text_of(data, size))};
    fathom::fuzz::check_workload_input(fathom::simulation::read_job_lines(stream));
    return 0;
}
