#include "agent/config/user_ids.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <limits>

/// Whatever stands for users, parse_user_ids() gives a range without root and without the number that means none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::agent::UserIds> ids = fathom::agent::parse_user_ids(fathom::fuzz::text_of(data, size));
    if (!ids) {
        fathom::fuzz::check_refusal(ids.error());
        return 0;
    }
    FATHOM_ASSERT(ids->first >= 1 && ids->first <= ids->last && ids->last < std::numeric_limits<unsigned>::max());
    return 0;
}
