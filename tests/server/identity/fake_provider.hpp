#pragma once

#include "core/base/base64url.hpp"
#include "server/identity/oidc/form_encoding.hpp"
#include "server/identity/oidc/https_fetch.hpp"
#include "server/identity/oidc/identity_provider.hpp"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <map>
#include <memory>
#include <string>

namespace fathom::server {

/// An RSA key that signs tokens, and the key set with its public half.
class SigningKey {
  public:
    explicit SigningKey(std::string key_id, unsigned bits = 2048) : id(std::move(key_id)), key_(EVP_RSA_gen(bits)) {}
    ~SigningKey() { EVP_PKEY_free(key_); }
    SigningKey(const SigningKey&) = delete;
    SigningKey& operator=(const SigningKey&) = delete;

    Json public_key() const
    {
        return {{"kty", "RSA"},
                {"use", "sig"},
                {"kid", id},
                {"n", base64url_encode(number(OSSL_PKEY_PARAM_RSA_N))},
                {"e", base64url_encode(number(OSSL_PKEY_PARAM_RSA_E))}};
    }

    std::string sign(const Json& claims, const Json& more_header = Json::object()) const
    {
        Json header{{"alg", "RS256"}, {"kid", id}};
        header.update(more_header);
        const std::string text = base64url_encode(header.dump()) + "." + base64url_encode(claims.dump());
        EVP_MD_CTX* const context = EVP_MD_CTX_new();
        EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_);
        std::size_t size = 0;
        const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
        EVP_DigestSign(context, nullptr, &size, bytes, text.size());
        std::string signature(size, '\0');
        EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, text.size());
        EVP_MD_CTX_free(context);
        signature.resize(size);
        return text + "." + base64url_encode(signature);
    }

    const std::string id;

  private:
    std::string number(const char* name) const
    {
        BIGNUM* value = nullptr;
        EVP_PKEY_get_bn_param(key_, name, &value);
        std::string bytes(static_cast<std::size_t>(BN_num_bytes(value)), '\0');
        BN_bn2bin(value, reinterpret_cast<unsigned char*>(bytes.data()));
        BN_free(value);
        return bytes;
    }

    EVP_PKEY* key_;
};

/// What is in the query of an address.
inline std::map<std::string, std::string> query_of(const std::string& url)
{
    std::map<std::string, std::string> fields;
    std::string_view rest = std::string_view(url).substr(url.find('?') + 1);
    while (!rest.empty()) {
        const std::string_view field = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(field.size() + 1, rest.size()));
        std::string value;
        for (std::size_t i = field.find('=') + 1; i < field.size(); ++i) {
            const bool is_escape = field[i] == '%';
            value +=
                is_escape ? static_cast<char>(std::stoi(std::string(field.substr(i + 1, 2)), nullptr, 16)) : field[i];
            if (is_escape) i += 2;
        }
        fields[std::string(field.substr(0, field.find('=')))] = value;
    }
    return fields;
}

/// A provider without sockets, which tests make misbehave.
class FakeProvider {
  public:
    static constexpr const char* kIssuer = "https://id.example.org/realm";

    FakeProvider()
    {
        description = {{"issuer", kIssuer},
                       {"authorization_endpoint", "https://id.example.org/realm/auth"},
                       {"token_endpoint", "https://id.example.org/realm/token"},
                       {"userinfo_endpoint", "https://id.example.org/realm/me"},
                       {"jwks_uri", "https://id.example.org/realm/keys"}};
    }

    static OidcSettings settings()
    {
        return {.issuer = kIssuer,
                .client_id = "fathom",
                .client_secret = "a secret: with & odd%characters",
                .public_url = "https://fathom.example.org:8443",
                .provider_name = "Example & Sons",
                .scopes = "openid profile",
                .name_claim = "preferred_username",
                .groups_claim = "groups",
                .roles = {{"hpc-admins", Role::kAdmin}, {"hpc", Role::kExpert}, {"guests", Role::kUser}},
                .authority_pem = {}};
    }

    Fetch fetch()
    {
        return [this](const FetchOrder& order, std::chrono::milliseconds) { return answer(order); };
    }

    /// Somebody signs in there, sent by this address; the code that the browser brings back.
    std::string sign_in(const std::string& authorization_url)
    {
        const auto query = query_of(authorization_url);
        nonce_ = query.at("nonce");
        challenge_ = query.at("code_challenge");
        EXPECT_EQ(query.at("code_challenge_method"), "S256");
        EXPECT_EQ(query.at("redirect_uri"), "https://fathom.example.org:8443/api/v1/session/oidc/callback");
        return "the code";
    }

    Json token_claims() const
    {
        const auto now =
            std::chrono::duration_cast<std::chrono::seconds>(SystemClock().now().time_since_epoch()).count();
        Json all{{"iss", kIssuer}, {"aud", "fathom"}, {"nonce", nonce_}, {"iat", now}, {"exp", now + 60}};
        all.update(claims);
        return all;
    }

    Json description;
    Json claims{{"sub", "u-1"}, {"preferred_username", "ada"}, {"groups", {"staff", "hpc"}}}; ///< of the ID token
    Json user_info = Json::object();
    Json header = Json::object(); ///< of the ID token, besides its own
    SigningKey signing{"key-1"};
    const SigningKey* shown = &signing; ///< in the key set
    std::optional<Error> failure;       ///< of every request
    int token_status = 200;
    std::vector<std::string> asked; ///< addresses, in order

  private:
    static net::ClientResponse json(int status, const Json& body) { return {status, {}, body.dump()}; }

    Result<net::ClientResponse> answer(const FetchOrder& order)
    {
        asked.push_back(order.url);
        if (failure) return *failure;
        if (order.url == std::string(kIssuer) + "/.well-known/openid-configuration") return json(200, description);
        if (order.url.ends_with("/keys")) return json(200, {{"keys", {shown->public_key()}}});
        if (order.url.ends_with("/me")) return json(200, user_info);
        return redeem(order);
    }

    Result<net::ClientResponse> redeem(const FetchOrder& order)
    {
        if (token_status != 200) return json(token_status, {{"error", "invalid_client"}});
        const auto form = query_of("?" + order.body);
        // client_secret_basic of RFC 6749: both parts are form-encoded first.
        EXPECT_EQ(order.headers.at("Authorization"),
                  "Basic ZmF0aG9tOmElMjBzZWNyZXQlM0ElMjB3aXRoJTIwJTI2JTIwb2RkJTI1Y2hhcmFjdGVycw==");
        const bool is_good = form.at("code") == "the code" && code_challenge(form.at("code_verifier")) == challenge_;
        if (!is_good) return json(400, {{"error", "invalid_grant"}});
        return json(200, {{"access_token", "at"}, {"id_token", signing.sign(token_claims(), header)}});
    }

    std::string nonce_;
    std::string challenge_;
};

} // namespace fathom::server
