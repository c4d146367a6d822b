#include "core/base/yaml.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_yaml() answers within its limits, with a value that JSON can hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr fathom::JsonLimits kLimits{.max_bytes = 1UL << 16U, .max_depth = 32};
    const fathom::Result<fathom::Json> json = fathom::parse_yaml(fathom::fuzz::text_of(data, size), kLimits);
    if (!json) {
        FATHOM_ASSERT(json.error().code == fathom::Errc::kInvalid || size > kLimits.max_bytes);
        return 0;
    }
    const std::string written = json->dump(); // throws for text that is not UTF-8
    const fathom::Result<fathom::Json> again = fathom::parse_json(written, {.max_bytes = written.size()});
    FATHOM_ASSERT(again.has_value());
    FATHOM_ASSERT(again->dump() == written);
    return 0;
}
