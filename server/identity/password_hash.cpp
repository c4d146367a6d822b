#include "server/identity/password_hash.hpp"

#include "core/base/secret.hpp"

#include <argon2.h>
#include <array>

namespace fathom::server {
namespace {

constexpr std::uint32_t kPasses = 2;
constexpr std::uint32_t kMemoryKib = 19 * 1024;
constexpr std::uint32_t kLanes = 1;
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;

} // namespace

Result<std::string> hash_password(std::string_view password)
{
    std::array<std::uint8_t, kSaltBytes> salt{};
    fill_random(salt);
    const std::size_t size =
        argon2_encodedlen(kPasses, kMemoryKib, kLanes, kSaltBytes, kHashBytes, Argon2_id); // with the final zero
    std::string encoded(size, '\0');
    const int outcome = argon2id_hash_encoded(kPasses, kMemoryKib, kLanes, password.data(), password.size(),
                                              salt.data(), salt.size(), kHashBytes, encoded.data(), encoded.size());
    if (outcome != ARGON2_OK)
        return Error{Errc::kUnavailable,
                     std::string("the password cannot be hashed: ") + argon2_error_message(outcome)};
    encoded.resize(encoded.find('\0'));
    return encoded;
}

bool password_matches(const std::string& hash, std::string_view password)
{
    return argon2id_verify(hash.c_str(), password.data(), password.size()) == ARGON2_OK;
}

} // namespace fathom::server
