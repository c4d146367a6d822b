#include "core/base/ed25519.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_public_keys() answers, with each key once and no more than 256; public_key_of() answers,
/// too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const fathom::Result<std::vector<fathom::PublicKey>> keys = fathom::parse_public_keys(text);
    if (!keys) fathom::fuzz::check_refusal(keys.error());
    if (keys) {
        FATHOM_ASSERT(!keys->empty() && keys->size() <= 256);
        for (std::size_t i = 1; i < keys->size(); ++i)
            FATHOM_ASSERT(!((*keys)[i] == (*keys)[i - 1]));
        FATHOM_ASSERT(fathom::key_id(keys->front()).size() == 16);
    }
    if (const fathom::Result<fathom::PublicKey> own = fathom::public_key_of(text)) {
        const fathom::Result<std::string> signature = fathom::sign("message", text);
        FATHOM_ASSERT(signature.has_value() && fathom::verifies("message", *signature, *own));
    }
    return 0;
}
