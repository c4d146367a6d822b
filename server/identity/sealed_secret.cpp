#include "server/identity/sealed_secret.hpp"

#include "core/base/hex.hpp"
#include "core/base/secret.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

namespace fathom::server {
namespace {

constexpr char kForm = 1;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kHeadBytes = 1 + kNonceBytes;
constexpr std::string_view kSpace = " \t\r\n";

struct FreeCipher {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* bytes_of(std::string_view text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text, std::size_t from = 0)
{
    return reinterpret_cast<unsigned char*>(text.data()) + from;
}

/// The form is authenticated with the context: it cannot be exchanged for one that is read otherwise.
std::string bound_data(std::string_view context)
{
    return kForm + std::string(context);
}

} // namespace

SealingKey make_sealing_key()
{
    SealingKey key{};
    fill_random(key);
    return key;
}

std::string format_sealing_key(const SealingKey& key)
{
    std::string text;
    for (const std::uint8_t byte : key)
        append_hex(text, byte);
    return text + "\n";
}

Result<SealingKey> parse_sealing_key(std::string_view text)
{
    const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
    const std::size_t end = text.find_last_not_of(kSpace) + 1;
    const std::string_view digits = begin < end ? text.substr(begin, end - begin) : std::string_view();
    SealingKey key{};
    bool is_good = digits.size() == 2 * key.size();
    for (std::size_t i = 0; is_good && i < key.size(); ++i) {
        const std::optional<unsigned char> byte = parse_hex_byte(digits[2 * i], digits[2 * i + 1]);
        is_good = byte.has_value();
        key[i] = byte.value_or(0);
    }
    if (is_good) return key;
    return Error{Errc::kInvalid, "must hold 64 hexadecimal digits, as `openssl rand -hex 32` writes them"};
}

Result<std::string> seal(const SealingKey& key, std::string_view secret, std::string_view context)
{
    std::array<std::uint8_t, kNonceBytes> nonce{};
    fill_random(nonce);
    std::string sealed(kHeadBytes + secret.size() + kTagBytes, kForm);
    std::copy(nonce.begin(), nonce.end(), bytes_of(sealed, 1));
    const std::string bound = bound_data(context);
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int size = 0;
    const bool is_good = cipher &&
                         EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), nonce.data()) == 1 &&
                         EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(std::string_view(bound)),
                                           static_cast<int>(bound.size())) == 1 &&
                         EVP_EncryptUpdate(cipher.get(), bytes_of(sealed, kHeadBytes), &size, bytes_of(secret),
                                           static_cast<int>(secret.size())) == 1 &&
                         EVP_EncryptFinal_ex(cipher.get(), bytes_of(sealed, kHeadBytes + secret.size()), &size) == 1 &&
                         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                                             bytes_of(sealed, kHeadBytes + secret.size())) == 1;
    if (!is_good) return Error{Errc::kInternal, "cannot encrypt a secret"};
    return sealed;
}

Result<std::string> open_sealed(const SealingKey& key, std::string_view sealed, std::string_view context)
{
    if (sealed.size() < kHeadBytes + kTagBytes || sealed[0] != kForm)
        return Error{Errc::kInvalid, "it is not sealed in a form that this program knows"};
    const std::string_view hidden = sealed.substr(kHeadBytes, sealed.size() - kHeadBytes - kTagBytes);
    std::string tag(sealed.substr(sealed.size() - kTagBytes));
    std::string secret(hidden.size(), '\0');
    const std::string bound = bound_data(context);
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int size = 0;
    const bool is_good = cipher &&
                         EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(),
                                            bytes_of(sealed.substr(1, kNonceBytes))) == 1 &&
                         EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(std::string_view(bound)),
                                           static_cast<int>(bound.size())) == 1 &&
                         EVP_DecryptUpdate(cipher.get(), bytes_of(secret), &size, bytes_of(hidden),
                                           static_cast<int>(hidden.size())) == 1 &&
                         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, bytes_of(tag)) == 1 &&
                         EVP_DecryptFinal_ex(cipher.get(), bytes_of(secret, hidden.size()), &size) == 1;
    if (!is_good) return Error{Errc::kInvalid, "it was sealed with another key, or has been changed"};
    return secret;
}

} // namespace fathom::server
