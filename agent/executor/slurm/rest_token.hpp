#pragma once

#include "core/base/clock.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::agent {

/// What a token (JWT) says of itself. No signature is checked, which is Slurm's to do.
struct TokenClaims {
    std::optional<Timestamp> expiry{}; ///< it is valid before
    std::string user{};                ///< whose it is; empty: it does not say
};

/// Nothing of what is no such token. Pure.
TokenClaims claims_of_token(std::string_view token);

/// The token for slurmrestd in a file, as `scontrol token` prints it (`SLURM_JWT=…`) or alone. It is a secret: it is
/// read for each request, and never kept or logged. Blocks.
/// @error kUnavailable  it cannot be read, holds no token, others than its owner may read it, the owner is neither this
///                      process's user nor root, or the token is no longer valid; the detail says which, and a way out.
Result<std::string> read_slurm_token(const std::filesystem::path& path, Timestamp now);

} // namespace fathom::agent
