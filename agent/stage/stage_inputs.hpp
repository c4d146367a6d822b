#pragma once

#include "agent/config/staging_order.hpp"
#include "agent/stage/staging_progress.hpp"
#include "core/transfer/transfer.hpp"

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// What became of inputs that were staged.
struct StagedInputs {
    std::int64_t bytes{};               ///< of those that are complete
    std::int64_t cached_bytes{};        ///< of these, of those that the center had already
    std::vector<std::string> spoiled{}; ///< SHA-256 of files that the center had with other content
};

/// How inputs are staged.
struct StagingManner {
    TransferTries tries{};
    StagingProgress* progress = nullptr; ///< is told of the bytes as they come; null: nobody is
};

/// Fetches inputs one after the other into the working folder, where they must not exist yet; folders on their way are
/// made, and no link in it is followed. What the network loses is fetched again, from where it broke off where a
/// checksum tells whether the parts fit. What the center has already is copied. Blocks.
/// @param order   of which the outputs are left alone
/// @param staged  is told of those before the one that fails, too
/// @error kInvalid      an input is not to be had so: refused by the rule or the server, or other bytes than declared.
/// @error kUnavailable  the network, the server or the disk failed to the last try.
/// Details begin with the URL, without its query, or with the job's output that the input is.
Result<void> stage_inputs(const StagingOrder& order, const std::filesystem::path& work, StagedInputs& staged,
                          const StagingManner& manner = {});

} // namespace fathom::agent
