#include "core/net/tls.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is given as a certificate, read_certificate() answers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::net::CertificateFacts> facts =
        fathom::net::read_certificate(std::string(fathom::fuzz::text_of(data, size)));
    if (!facts) {
        fathom::fuzz::check_refusal(facts.error());
        return 0;
    }
    FATHOM_ASSERT(facts->serial_hex.find_first_not_of("0123456789abcdef") == std::string::npos);
    return 0;
}
