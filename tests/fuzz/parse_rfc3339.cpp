#include "core/base/clock.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_rfc3339() answers; what it took is written in UTC and read again as the same moment.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Timestamp> time = fathom::parse_rfc3339(fathom::fuzz::text_of(data, size));
    if (!time) {
        fathom::fuzz::check_refusal(time.error());
        return 0;
    }
    const std::string written = fathom::format_rfc3339(*time);
    FATHOM_ASSERT(written.size() == std::string_view("2026-11-20T11:04:14.123456Z").size());
    const fathom::Result<fathom::Timestamp> again = fathom::parse_rfc3339(written);
    FATHOM_ASSERT(again.has_value() && *again == *time);
    return 0;
}
