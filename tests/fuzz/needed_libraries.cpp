#include "probes/profile/needed_libraries.hpp"

#include "tests/fuzz/fuzz_input.hpp"
#include "tests/fuzz/memory_file.hpp"

/// Whatever a program's file holds, needed_libraries() answers with names, and with no more than a table may have.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fathom::fuzz::MemoryFile file;
    file.hold(fathom::fuzz::text_of(data, size));
    const std::vector<std::string> libraries = fathom::profile::needed_libraries(file.path());
    FATHOM_ASSERT(libraries.empty() || size > 64);
    for (const std::string& name : libraries)
        FATHOM_ASSERT(name.size() <= 256 && name.find('\0') == std::string::npos);
    return 0;
}
