#include "core/base/id.hpp"

#include "core/base/secret.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

struct UlidBits {
    std::uint64_t time_ms{};
    std::array<std::uint8_t, 10> random{};
};

/// Adds one to the random part; false when it overflows.
bool increment(std::array<std::uint8_t, 10>& random)
{
    for (auto byte = random.rbegin(); byte != random.rend(); ++byte) {
        if (++*byte != 0) return true;
    }
    return false;
}

UlidBits next_bits()
{
    static std::mutex mutex;
    static UlidBits last;
    const auto now_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());

    const std::scoped_lock lock(mutex);
    // A clock that steps back must not make ids that sort before earlier ones.
    if (now_ms > last.time_ms || !increment(last.random)) {
        last.time_ms = std::max(now_ms, last.time_ms + 1);
        fill_random(last.random);
        last.random[0] &= 0x7F; // room to increment within the millisecond
    }
    return last;
}

} // namespace

std::string new_ulid()
{
    const UlidBits bits = next_bits();
    std::string text(26, '0');
    for (std::size_t i = 0; i < 10; ++i) {
        text[9 - i] = kAlphabet[(bits.time_ms >> (5 * i)) & 31U];
    }
    // 80 bits as sixteen groups of five.
    for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t bit = i * 5;
        const std::size_t byte = bit / 8;
        const unsigned pair = (static_cast<unsigned>(bits.random[byte]) << 8U) |
                              (byte + 1 < bits.random.size() ? bits.random[byte + 1] : 0U);
        text[10 + i] = kAlphabet[(pair >> (11 - bit % 8)) & 31U];
    }
    return text;
}

bool is_ulid(std::string_view text)
{
    if (text.size() != 26 || text[0] > '7') return false;
    return text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

} // namespace fathom
