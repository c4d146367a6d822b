#include "core/net/address_networks.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <optional>
#include <string>

namespace fathom::net {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr unsigned kAllBits = 128;
constexpr unsigned kBitsBeforeIpv4 = 96;

struct Address {
    Bytes bytes{};
    bool is_v4 = false;
};

std::optional<Address> read_address(std::string_view text)
{
    const std::string terminated(text);
    if (terminated.find('\0') != std::string::npos) return std::nullopt;
    Address address;
    if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
    address.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    address.is_v4 = true;
    if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data() + kBitsBeforeIpv4 / 8) == 1) return address;
    return std::nullopt;
}

std::optional<unsigned> read_prefix(std::string_view text, bool is_v4)
{
    const unsigned most = is_v4 ? kAllBits - kBitsBeforeIpv4 : kAllBits;
    const auto bits = parse_number<unsigned>(text);
    if (!bits || *bits > most) return std::nullopt;
    return is_v4 ? kBitsBeforeIpv4 + *bits : *bits;
}

bool have_same_prefix(const Bytes& a, const Bytes& b, unsigned bits)
{
    const std::size_t whole = bits / 8;
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) return false;
    if (bits % 8 == 0) return true;
    const unsigned shift = 8 - bits % 8;
    return (a[whole] >> shift) == (b[whole] >> shift);
}

std::string_view without_spaces(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

} // namespace

Result<AddressNetworks> AddressNetworks::parse(std::string_view text)
{
    const Error wrong(Errc::kInvalid, "must be IP addresses or networks such as 10.0.0.0/8, separated by commas");
    AddressNetworks all;
    if (without_spaces(text).empty()) return all;
    for (bool is_last = false; !is_last;) {
        const std::size_t comma = text.find(',');
        const std::string_view item = without_spaces(text.substr(0, comma));
        const std::size_t slash = item.find('/');
        const std::optional<Address> address = read_address(item.substr(0, slash));
        if (!address) return wrong;
        std::optional<unsigned> bits = kAllBits;
        if (slash != std::string_view::npos) bits = read_prefix(item.substr(slash + 1), address->is_v4);
        if (!bits) return wrong;
        all.networks_.push_back({address->bytes, *bits});
        is_last = comma == std::string_view::npos;
        if (!is_last) text.remove_prefix(comma + 1);
    }
    return all;
}

bool AddressNetworks::contains(std::string_view address) const
{
    if (networks_.empty()) return false;
    const std::optional<Address> known = read_address(address.substr(0, address.find('%'))); // without the interface
    if (!known) return false;
    return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
        return have_same_prefix(network.address, known->bytes, network.prefix_bits);
    });
}

std::string check_address_networks(std::string_view value)
{
    const Result<AddressNetworks> networks = AddressNetworks::parse(value);
    return networks ? "" : networks.error().detail;
}

} // namespace fathom::net
