#include "core/net/tls.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever an agent sends as its signing request, sign_client_request() refuses it, or signs the name that the server
/// chose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fathom::net::Credential kAuthority = fathom::net::make_authority("authority", 1).value();
    const fathom::Result<std::string> certificate =
        fathom::net::sign_client_request(kAuthority, std::string(fathom::fuzz::text_of(data, size)), "ctr_chosen", 1);
    if (!certificate) {
        FATHOM_ASSERT(certificate.error().code == fathom::Errc::kInvalid);
        return 0;
    }
    FATHOM_ASSERT(fathom::net::read_certificate(*certificate).value().common_name == "ctr_chosen");
    return 0;
}
