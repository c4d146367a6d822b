#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/workload_checks.hpp"

/// Whatever a file is, compressed or not, read_workload() finds its format and reads it, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fathom::fuzz::MemoryFile file;
    file.hold(fathom::fuzz::text_of(data, size));
    fathom::fuzz::check_workload_input(fathom::simulation::read_workload(file.path(), {.job_count = 10}));
    return 0;
}
