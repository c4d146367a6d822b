#pragma once

#include "core/base/result.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fathom::net {

/// A set of IPv4 and IPv6 networks. An IPv4 address is the same as its IPv4-mapped IPv6 address.
class AddressNetworks {
  public:
    /// Addresses and networks in CIDR notation, separated by commas: "192.0.2.7, 10.0.0.0/8, 2001:db8::/32". Spaces
    /// around them do not matter; an empty text is the empty set.
    /// @error kInvalid  one of them is none; the detail says what they must be.
    static Result<AddressNetworks> parse(std::string_view text);

    bool is_empty() const { return networks_.empty(); }
    /// `address` without port or brackets; false when it is no address.
    bool contains(std::string_view address) const;

  private:
    using Bytes = std::array<std::uint8_t, 16>;
    struct Network {
        Bytes address{};
        unsigned prefix_bits = 0; ///< of the 128
    };
    std::vector<Network> networks_;
};

/// For SettingSpec::check.
std::string check_address_networks(std::string_view value);

} // namespace fathom::net
