#include "probes/profile/program_check.hpp"
#include "tests/fuzz/fuzz_input.hpp"
#include "tests/fuzz/memory_file.hpp"

#include <sys/stat.h>

/// Whatever a program's file holds, check_program() says whether it can be started and counted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fathom::fuzz::MemoryFile file;
    file.hold(fathom::fuzz::text_of(data, size));
    const std::string path = file.path();
    FATHOM_ASSERT(::chmod(path.c_str(), 0700) == 0);
    const fathom::Result<fathom::profile::ProgramFacts> facts = fathom::profile::check_program(path);
    FATHOM_ASSERT(facts ? !facts->path.empty() : !facts.error().detail.empty());
    return 0;
}
