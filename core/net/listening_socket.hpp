#pragma once

#include "core/base/result.hpp"
#include "core/base/settings.hpp"

#include <cstdint>

namespace fathom::net {

/// A TCP socket with an address that does not listen yet: bound while the process may take any port, handed to a Server
/// when the process has given its rights up. Closed when it goes.
class ListeningSocket {
  public:
    /// Port 0 takes a free port; "::" takes IPv4 clients, too. Blocks while a name is looked up.
    /// @error kUnavailable  the address cannot be bound; the detail names it and the cause.
    static Result<ListeningSocket> bind(const AddressPort& address);

    ~ListeningSocket();
    ListeningSocket(ListeningSocket&& other) noexcept;
    ListeningSocket& operator=(ListeningSocket&&) = delete;
    ListeningSocket(const ListeningSocket&) = delete;
    ListeningSocket& operator=(const ListeningSocket&) = delete;

    bool is_v6() const { return is_v6_; }
    std::uint16_t port() const { return port_; }
    /// The descriptor, which the caller closes from now on.
    int release();

  private:
    ListeningSocket(int descriptor, bool is_v6, std::uint16_t port)
        : descriptor_(descriptor), is_v6_(is_v6), port_(port)
    {
    }
    int descriptor_;
    bool is_v6_;
    std::uint16_t port_;
};

} // namespace fathom::net
