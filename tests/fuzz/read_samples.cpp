#include "probes/profile/counter_records.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever the kernel's buffer and the list of a process's memory hold, no more is read than there is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fathom; // NOLINT(google-build-using-namespace): outside any namespace
    const std::string text(fuzz::text_of(data, size));
    std::uint64_t lost = 0;
    FATHOM_ASSERT(profile::read_samples(text, lost).size() <= size / 24);
    std::uint64_t before = 0;
    for (const profile::CodeMapping& mapping : profile::read_code_mappings(text)) {
        FATHOM_ASSERT(mapping.begin < mapping.end && mapping.begin >= before && mapping.path.starts_with('/'));
        before = mapping.begin;
    }
    return 0;
}
