#include "server/identity/oidc/json_web_key.hpp"

#include "core/base/base64url.hpp"
#include "core/base/owner.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <optional>

namespace fathom::server {
namespace {

constexpr std::size_t kCoordinateBytes = 32; // of P-256
constexpr int kMinRsaBits = 2048;
constexpr int kMaxRsaBits = 16384;

using Key = Owner<EVP_PKEY, EVP_PKEY_free>;
using KeyContext = Owner<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = Owner<EVP_MD_CTX, EVP_MD_CTX_free>;
using Number = Owner<BIGNUM, BN_free>;
using Builder = Owner<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Parameters = Owner<OSSL_PARAM, OSSL_PARAM_free>;
using CurveSignature = Owner<ECDSA_SIG, ECDSA_SIG_free>;

const unsigned char* bytes_of(const std::string& text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(const std::string& bytes)
{
    return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

std::string member_text(const Json& key, const char* name)
{
    const auto found = key.find(name);
    return found != key.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The bytes of a member in base64url; empty when there are none.
std::string member_bytes(const Json& key, const char* name)
{
    return base64url_decode(member_text(key, name)).value_or("");
}

/// Null when the parameters make no key.
Key make_key(const char* type, OSSL_PARAM_BLD* builder)
{
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
        return nullptr;
    return Key(key);
}

/// Null when it is none, or too weak.
Key rsa_key(const Json& json)
{
    const Number modulus = number_of(member_bytes(json, "n"));
    const Number exponent = number_of(member_bytes(json, "e"));
    const Builder builder(OSSL_PARAM_BLD_new());
    if (!modulus || !exponent || !builder) return nullptr;
    const int bits = BN_num_bits(modulus.get());
    if (bits < kMinRsaBits || bits > kMaxRsaBits) return nullptr;
    if (OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1)
        return nullptr;
    return make_key("RSA", builder.get());
}

/// Null when it is no point of P-256.
Key curve_key(const Json& json)
{
    const std::string x = member_bytes(json, "x");
    const std::string y = member_bytes(json, "y");
    if (member_text(json, "crv") != "P-256" || x.size() != kCoordinateBytes || y.size() != kCoordinateBytes)
        return nullptr;
    const std::string point = "\x04" + x + y;
    const Builder builder(OSSL_PARAM_BLD_new());
    if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
        return nullptr;
    return make_key("EC", builder.get());
}

/// OpenSSL takes ASN.1, tokens carry both numbers one after the other. Empty when it is neither.
std::string curve_signature(const std::string& raw)
{
    if (raw.size() != 2 * kCoordinateBytes) return {};
    Number r = number_of(raw.substr(0, kCoordinateBytes));
    Number s = number_of(raw.substr(kCoordinateBytes));
    const CurveSignature signature(ECDSA_SIG_new());
    if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.release(), s.release()) != 1) return {};
    unsigned char* text = nullptr;
    const int size = i2d_ECDSA_SIG(signature.get(), &text);
    if (size <= 0) return {};
    std::string encoded(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    return encoded;
}

bool is_signed_by(const SignedToken& token, EVP_PKEY* key, const std::string& signature)
{
    const DigestContext context(EVP_MD_CTX_new());
    return context && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
           EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(token.signed_part),
                            token.signed_part.size()) == 1;
}

/// Whether the set says that the key is for this.
bool may_be_used(const Json& key, const SignedToken& token, const std::string& type)
{
    const auto unsaid_or = [&](const char* name, const std::string& value) {
        return !key.contains(name) || member_text(key, name) == value;
    };
    return key.is_object() && member_text(key, "kty") == type && unsaid_or("use", "sig") &&
           unsaid_or("alg", token.algorithm) && (token.key_id.empty() || unsaid_or("kid", token.key_id));
}

} // namespace

Result<void> verify_signature(const SignedToken& token, const Json& key_set)
{
    const bool is_rsa = token.algorithm == "RS256";
    if (!is_rsa && token.algorithm != "ES256")
        return Error{Errc::kInvalid, "the ID token is signed by " + (token.algorithm.empty() ? "?" : token.algorithm) +
                                         "; RS256 and ES256 are known here"};
    const auto keys = key_set.find("keys");
    if (keys == key_set.end() || !keys->is_array()) return Error{Errc::kInvalid, "the provider's keys are no key set"};
    const std::string signature = is_rsa ? token.signature : curve_signature(token.signature);
    bool was_there = false;
    for (const Json& json : *keys) {
        if (!may_be_used(json, token, is_rsa ? "RSA" : "EC")) continue;
        const Key key = is_rsa ? rsa_key(json) : curve_key(json);
        was_there = was_there || key;
        const bool is_good = key && is_signed_by(token, key.get(), signature);
        ERR_clear_error();
        if (is_good) return {};
    }
    if (!was_there) return Error{Errc::kNotFound, "no key of the provider fits the ID token's signature"};
    return Error{Errc::kInvalid, "the signature of the ID token is wrong"};
}

} // namespace fathom::server
