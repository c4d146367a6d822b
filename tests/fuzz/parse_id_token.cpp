#include "core/base/base64url.hpp"
#include "server/identity/oidc/https_fetch.hpp"
#include "server/identity/oidc/json_web_key.hpp"
#include "server/identity/oidc/person.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <algorithm>

namespace {

using namespace fathom;

void check_address(std::string_view text)
{
    const Result<server::HttpsUrl> url = server::parse_https_url(text);
    if (!url) return fuzz::check_refusal(url.error());
    FATHOM_ASSERT(url->target.starts_with('/'));
    for (const char c : url->target)
        FATHOM_ASSERT(c > ' ' && c <= '~');
}

/// What a provider says is read within its bounds; nobody can sign without its key.
void check_token(std::string_view compact)
{
    const Result<server::SignedToken> token = server::parse_signed_token(compact);
    if (!token) return fuzz::check_refusal(token.error());
    // The claims as the provider's keys, too: both come from outside.
    for (const Json& keys : {token->claims, Json{{"keys", Json::array({token->claims})}}})
        FATHOM_ASSERT(!server::verify_signature(*token, keys));
    const Result<void> good = server::check_claims(token->claims, {"https://id", "me", "n", Timestamp{}});
    if (!good) return fuzz::check_refusal(good.error());
    const server::Person person = server::person_of(token->claims, "name", "realm_access.roles");
    FATHOM_ASSERT(!person.subject.empty() && person.groups.size() <= 1000);
}

} // namespace

/// As it arrives, and as header, line feed and claims in clear, which a search gets further with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fuzz::text_of(data, size);
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view claims = text.substr(std::min(end + 1, text.size()));
    check_address(text);
    check_token(text);
    check_token(base64url_encode(text.substr(0, end)) + "." + base64url_encode(claims) + "." +
                base64url_encode(std::string(64, 's')));
    return 0;
}
