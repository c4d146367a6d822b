#include "core/model/money.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever stands for an amount, parse_amount() reads it exactly or not at all.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const std::optional<std::int64_t> micros = fathom::parse_amount(text);
    if (!micros) return 0;
    constexpr std::int64_t kEnd = 1'000'000'000'000'000'000;
    FATHOM_ASSERT(*micros > -kEnd && *micros < kEnd);
    const std::string written = fathom::format_amount(*micros);
    FATHOM_ASSERT(fathom::parse_amount(written) == micros && written.size() <= text.size());
    return 0;
}
