#include "core/net/network.hpp"
#include "core/net/proxy_header.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace net = fathom::net;

/// Whatever a proxy sends, read as a connection reads it (no byte further than is asked for) the header ends within its
/// limit, and says an address with a port or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    std::size_t taken = 0;
    net::ProxyHeader header = net::read_proxy_header({});
    while (header.state == net::ProxyHeader::State::kIncomplete) {
        FATHOM_ASSERT(header.needed >= 1 && taken + header.needed <= net::kMaxProxyHeaderBytes);
        if (taken + header.needed > text.size()) return 0; // the connection waits, or ends
        taken += header.needed;
        header = net::read_proxy_header(text.substr(0, taken));
    }
    // Fewer bytes of the same are never complete, nor is more than the header.
    if (header.state == net::ProxyHeader::State::kComplete) {
        const auto shorter = net::read_proxy_header(text.substr(0, taken - 1));
        FATHOM_ASSERT(shorter.state == net::ProxyHeader::State::kIncomplete && shorter.needed >= 1);
        if (taken < text.size()) {
            const auto longer = net::read_proxy_header(text.substr(0, taken + 1));
            FATHOM_ASSERT(longer.state == net::ProxyHeader::State::kRefused);
        }
    }
    if (header.client_address.empty()) return 0;
    FATHOM_ASSERT(header.state == net::ProxyHeader::State::kComplete);
    FATHOM_ASSERT(header.client_address.rfind(':') != std::string::npos);
    FATHOM_ASSERT(!net::network_of(header.client_address).empty());
    return 0;
}
