#pragma once

#include "core/net/http.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fathom::server {

/// What strangers may take of the network through the fetch test.
struct FetchTestLimits {
    std::int64_t bytes = 256LL << 20U;      ///< of one answer
    std::size_t streams = 16;               ///< at once, of this replica
    std::size_t streams_of_one_address = 4; ///< at once; IPv6 addresses count by their /64 network
    std::chrono::seconds time{60};          ///< an answer that takes longer is cut off
};

/// `GET …/fetch-test?bytes=N&seed=S`: exactly N bytes, byte i being (i·131 + ⌊i/256⌋·31 + S) mod 256, which the
/// operator network_fetch times and checks. Open to all, since probes carry no token; so it is limited, and
/// answers 429 beyond. Each handler has limits of its own; give one to all routes that shall share them.
net::Handler make_fetch_test(const FetchTestLimits& limits = {});

} // namespace fathom::server
