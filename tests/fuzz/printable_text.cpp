#include "cli/text/display_text.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a name holds, what is shown of it is UTF-8 without control characters, and fits its column.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const std::string shown = fathom::cli::printable(text);
    for (const char c : shown)
        FATHOM_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    FATHOM_ASSERT(!fathom::Json(shown).dump().empty()); // throws when it is not UTF-8
    FATHOM_ASSERT(fathom::cli::printable(shown) == shown);
    FATHOM_ASSERT(fathom::cli::display_width(fathom::cli::shortened(shown, 12)) <= 12);
    return 0;
}
