#include "core/net/address_networks.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is set, parse() answers, check_address_networks() agrees with it, and what a set of one address was made of
/// is in it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const fathom::Result<fathom::net::AddressNetworks> networks = fathom::net::AddressNetworks::parse(text);
    FATHOM_ASSERT(networks.has_value() == fathom::net::check_address_networks(text).empty());
    if (!networks) {
        fathom::fuzz::check_refusal(networks.error());
        return 0;
    }
    const bool is_one_address = text.find_first_of(" ,/") == std::string_view::npos && !text.empty();
    FATHOM_ASSERT(!is_one_address || networks->contains(text));
    FATHOM_ASSERT(!networks->is_empty() || !networks->contains("192.0.2.7"));
    return 0;
}
