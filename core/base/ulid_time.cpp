#include "core/base/ulid_time.hpp"

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr std::string_view kUlidDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::int64_t kMaxUlidMilliseconds = (std::int64_t{1} << 48U) - 1;

} // namespace

Timestamp ulid_time(std::string_view id)
{
    const std::string_view ulid = id.size() >= 26 ? id.substr(id.size() - 26) : std::string_view();
    FATHOM_ASSERT(is_ulid(ulid));
    std::int64_t milliseconds = 0;
    for (const char digit : ulid.substr(0, 10))
        milliseconds = milliseconds * 32 + static_cast<std::int64_t>(kUlidDigits.find(digit));
    return Timestamp(std::chrono::milliseconds(milliseconds));
}

std::string first_ulid_of(Timestamp at)
{
    const auto since_1970 = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count();
    auto milliseconds = static_cast<std::uint64_t>(std::clamp<std::int64_t>(since_1970, 0, kMaxUlidMilliseconds));
    std::string text(26, '0');
    for (std::size_t digit = 10; digit > 0; --digit, milliseconds >>= 5U)
        text[digit - 1] = kUlidDigits[milliseconds & 31U];
    return text;
}

} // namespace fathom
