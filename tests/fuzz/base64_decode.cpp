#include "core/base/secret.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, base64_decode() answers; what it took has one way to be written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const fathom::Base64Decoded decoded = fathom::base64_decode(text);
    if (decoded.ok) FATHOM_ASSERT(fathom::base64_encode(decoded.data) == text);
    const fathom::Base64Decoded again = fathom::base64_decode(fathom::base64_encode(text));
    FATHOM_ASSERT(again.ok && again.data == text);
    return 0;
}
