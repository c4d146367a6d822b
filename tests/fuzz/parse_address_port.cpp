#include "core/base/settings.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is set, parse_address_port() answers, and check_address_port() agrees with it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const fathom::Result<fathom::AddressPort> address = fathom::parse_address_port(text);
    FATHOM_ASSERT(address.has_value() == fathom::check_address_port(text).empty());
    if (!address) return 0;
    FATHOM_ASSERT(!address->host.empty() && text.find(address->host) != std::string_view::npos);
    FATHOM_ASSERT(text.ends_with(std::to_string(address->port)));
    return 0;
}
