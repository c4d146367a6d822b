#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::agent {

/// A file among the inputs that a center keeps.
struct KeptInput {
    std::string sha256;
    std::int64_t size_bytes{};
    std::int64_t used_ns{};            ///< when it was used last, since 1970
    std::optional<unsigned> bringer{}; ///< user id of whoever's job brought it; empty: it is nobody's in particular
};

/// What was not used for so long goes first, whoever brought it.
inline constexpr std::int64_t kLongUnused_ns = 7LL * 24 * 3600 * 1'000'000'000;

/// Which files are given up so that another one has room: those that nobody has used for long, and then, one after the
/// other, the one that was not used for longest of whoever has brought most, the new file included. So nobody who has
/// no more than the others loses something to them, however much they bring. Pure.
/// @param coming  the new file
/// @param now_ns  since 1970
/// @return their SHA-256, in the order in which they go
/// @error kTooLarge  it takes more than all files may, or others would lose more than its bringer has.
Result<std::vector<std::string>> choose_leaving(std::vector<KeptInput> kept, const KeptInput& coming,
                                                std::int64_t limit_bytes, std::int64_t now_ns);

} // namespace fathom::agent
