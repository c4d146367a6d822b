#include "core/net/client.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is given as a server, parse_endpoint() answers with something that can be connected to.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::net::Endpoint> endpoint =
        fathom::net::parse_endpoint(fathom::fuzz::text_of(data, size));
    if (!endpoint) {
        FATHOM_ASSERT(endpoint.error().code == fathom::Errc::kInvalid);
        return 0;
    }
    FATHOM_ASSERT(!endpoint->host.empty() && endpoint->port > 0);
    FATHOM_ASSERT(endpoint->host.find_first_of("/@ \r\n") == std::string::npos);
    return 0;
}
