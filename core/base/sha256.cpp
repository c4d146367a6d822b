#include "core/base/sha256.hpp"

#include "core/base/hex.hpp"
#include "core/base/result.hpp"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace fathom {

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
};

bool is_sha256(std::string_view text)
{
    return text.size() == kSha256Digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Sha256::Sha256() : state_(std::make_unique<State>())
{
    FATHOM_ASSERT(state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256()
{
    EVP_MD_CTX_free(state_->context);
}

void Sha256::add(std::string_view data)
{
    FATHOM_ASSERT(EVP_DigestUpdate(state_->context, data.data(), data.size()) == 1);
}

std::string Sha256::hex()
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    FATHOM_ASSERT(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1);
    std::string text;
    for (unsigned i = 0; i < size; ++i)
        append_hex(text, digest.at(i));
    return text;
}

} // namespace fathom
