#include "core/base/json_reader.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_json() answers within its limits; what it took is written and read again as the same, and
/// find_nul() finds just what PostgreSQL would refuse.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr fathom::JsonLimits kLimits{.max_bytes = 1UL << 16U, .max_depth = 32};
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const fathom::Result<fathom::Json> json = fathom::parse_json(text, kLimits);
    if (!json) {
        fathom::fuzz::check_refusal(json.error());
        return 0;
    }
    FATHOM_ASSERT(size <= kLimits.max_bytes);
    const std::string written = json->dump();
    const fathom::Result<fathom::Json> again = fathom::parse_json(written, {.max_bytes = written.size()});
    FATHOM_ASSERT(again.has_value());
    FATHOM_ASSERT(again->dump() == written);
    const bool has_escaped_nul = written.find("\\u0000") != std::string::npos;
    FATHOM_ASSERT(!fathom::contains_nul(*json) || has_escaped_nul);
    FATHOM_ASSERT(fathom::contains_nul(*json) == fathom::contains_nul(*again));
    return 0;
}
