#include "probes/upload/operator_process.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <cstring>

/// Whatever an uploaded operator's process answers, what is shown of its text is one line of printable characters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fathom::probes::wire::Reply reply;
    std::memcpy(&reply, data, std::min(size, sizeof(reply)));
    for (const char c : fathom::probes::reply_text(reply))
        FATHOM_ASSERT(c >= ' ' && c <= '~');
    return 0;
}
