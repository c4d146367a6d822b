#include "core/base/ulid_time.hpp"

#include "core/base/id.hpp"

namespace fathom {

Timestamp ulid_time(std::string_view id)
{
    const std::string_view ulid = id.size() >= 26 ? id.substr(id.size() - 26) : std::string_view();
    FATHOM_ASSERT(is_ulid(ulid));
    constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    std::int64_t milliseconds = 0;
    for (const char digit : ulid.substr(0, 10))
        milliseconds = milliseconds * 32 + static_cast<std::int64_t>(alphabet.find(digit));
    return Timestamp(std::chrono::milliseconds(milliseconds));
}

} // namespace fathom
