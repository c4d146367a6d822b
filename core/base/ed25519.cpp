#include "core/base/ed25519.hpp"

#include "core/base/owner.hpp"
#include "core/base/result.hpp"
#include "core/base/secret.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxKeys = 256;
constexpr std::size_t kSignatureBytes = 64;

using Bio = Owner<BIO, BIO_free_all>;
using Key = Owner<EVP_PKEY, EVP_PKEY_free>;
using DigestContext = Owner<EVP_MD_CTX, EVP_MD_CTX_free>;

Error openssl_failed(const std::string& what)
{
    const char* const reason = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return Error{Errc::kInternal, "cannot " + what + ": " + (reason != nullptr ? reason : "unknown error of OpenSSL")};
}

// Without it OpenSSL would ask for a password on the terminal.
int refuse_password(char*, int, int, void*)
{
    return -1;
}

Bio reading(std::string_view text)
{
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_of(BIO& bio)
{
    char* data = nullptr;
    const long size = BIO_get_mem_data(&bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

std::optional<PublicKey> raw_public_key(const EVP_PKEY& key)
{
    PublicKey raw;
    std::size_t size = raw.bytes.size();
    if (EVP_PKEY_get_base_id(&key) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_public_key(&key, raw.bytes.data(), &size) != 1 || size != raw.bytes.size())
        return std::nullopt;
    return raw;
}

Result<Key> private_key(std::string_view pem)
{
    const Bio bio = reading(pem);
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_password, nullptr));
    ERR_clear_error();
    if (key == nullptr)
        return Error{Errc::kInvalid, "the private key is not an unencrypted private key in PEM (\"-----BEGIN PRIVATE "
                                     "KEY-----\"); fathom operator key create makes one"};
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
        return Error{Errc::kInvalid, "the private key is of another kind than Ed25519; fathom operator key create "
                                     "makes one"};
    return key;
}

const unsigned char* bytes_of(std::string_view text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

struct PemBlock {
    enum State { kGood, kBroken, kEnd };
    State state{kEnd};
    std::string label; ///< "PUBLIC KEY"
    std::string data;
};

PemBlock next_block(BIO& bio)
{
    char* label = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    PemBlock block;
    if (PEM_read_bio(&bio, &label, &header, &data, &size) == 1) {
        block = {PemBlock::kGood, label, {reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)}};
    } else if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
        block.state = PemBlock::kBroken;
    }
    OPENSSL_free(label);
    OPENSSL_free(header);
    OPENSSL_free(data);
    ERR_clear_error();
    return block;
}

} // namespace

Result<KeyPair> new_key_pair()
{
    const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    const Bio private_bio(BIO_new(BIO_s_mem()));
    const Bio public_bio(BIO_new(BIO_s_mem()));
    if (key == nullptr || private_bio == nullptr || public_bio == nullptr ||
        PEM_write_bio_PKCS8PrivateKey(private_bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
        PEM_write_bio_PUBKEY(public_bio.get(), key.get()) != 1)
        return openssl_failed("make a key pair");
    return KeyPair{text_of(*private_bio), text_of(*public_bio)};
}

Result<std::vector<PublicKey>> parse_public_keys(std::string_view pem)
{
    std::vector<PublicKey> keys;
    const Bio bio = reading(pem);
    for (std::size_t number = 1;;) {
        const PemBlock block = next_block(*bio);
        if (block.state == PemBlock::kEnd) break;
        if (block.state == PemBlock::kGood && block.label != "PUBLIC KEY") continue;
        const unsigned char* data = bytes_of(block.data);
        const Key key(d2i_PUBKEY(nullptr, &data, static_cast<long>(block.data.size())));
        ERR_clear_error();
        if (block.state == PemBlock::kBroken || key == nullptr)
            return Error{Errc::kInvalid, "public key " + std::to_string(number) + " cannot be read: its PEM is broken"};
        const std::optional<PublicKey> raw = raw_public_key(*key);
        if (!raw)
            return Error{Errc::kInvalid, "public key " + std::to_string(number) + " is of another kind than Ed25519"};
        if (std::find(keys.begin(), keys.end(), *raw) == keys.end()) keys.push_back(*raw);
        if (keys.size() > kMaxKeys)
            return Error{Errc::kInvalid, "there are more than " + std::to_string(kMaxKeys) + " public keys"};
        ++number;
    }
    if (keys.empty()) return Error{Errc::kInvalid, "there is no public key in PEM (\"-----BEGIN PUBLIC KEY-----\")"};
    return keys;
}

Result<PublicKey> public_key_of(std::string_view private_pem)
{
    const Result<Key> key = private_key(private_pem);
    if (!key) return key.error();
    const std::optional<PublicKey> raw = raw_public_key(**key);
    if (!raw) return openssl_failed("find the public half of the key");
    return *raw;
}

std::string key_id(const PublicKey& key)
{
    return sha256_hex({reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()}).substr(0, 16);
}

Result<std::string> sign(std::string_view message, std::string_view private_pem)
{
    const Result<Key> key = private_key(private_pem);
    if (!key) return key.error();
    const DigestContext context(EVP_MD_CTX_new());
    std::string signature(kSignatureBytes, '\0');
    std::size_t size = signature.size();
    // Ed25519 hashes by itself: no digest is named.
    if (context == nullptr || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key->get()) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes_of(message),
                       message.size()) != 1 ||
        size != kSignatureBytes)
        return openssl_failed("sign");
    return signature;
}

bool verifies(std::string_view message, std::string_view signature, const PublicKey& key)
{
    if (signature.size() != kSignatureBytes) return false;
    const Key raw(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
    const DigestContext context(EVP_MD_CTX_new());
    const bool good =
        raw != nullptr && context != nullptr &&
        EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, raw.get()) == 1 &&
        EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
    ERR_clear_error();
    return good;
}

} // namespace fathom
