#pragma once

#include "agent/config/staging_order.hpp"
#include "agent/stage/transfer.hpp"

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// Fetches inputs one after the other into the working folder, where they must not exist yet; folders on their way are
/// made, and no link in it is followed. What the network loses is fetched again, from where it broke off where a
/// checksum tells whether the parts fit. Blocks.
/// @param staged_bytes  gets the size of those that are there as declared, also when a later one fails
/// @error kInvalid      an input is not to be had so: refused by the rule or the server, or other bytes than declared.
/// @error kUnavailable  the network, the server or the disk failed to the last try.
/// Details begin with the URL, without its query.
Result<void> stage_inputs(const std::vector<JobInput>& inputs, const StagingRule& rule,
                          const std::filesystem::path& work, std::int64_t& staged_bytes,
                          const StagingTries& tries = {});

} // namespace fathom::agent
