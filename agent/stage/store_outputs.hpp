#pragma once

#include "agent/config/staging_order.hpp"
#include "core/transfer/transfer.hpp"

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// Stores outputs one after the other: by PUT, or into a file of the center, which then replaces what stood there as a
/// whole. What the network loses is sent again, from the beginning. Blocks.
/// @param stored  gets those that are stored, also when a later one fails
/// @error kInvalid      an output is not to be stored so: it is missing, or no file, or refused by the rule, the server
///                      or the folder.
/// @error kUnavailable  the network, the server or the disk failed to the last try.
/// Details begin with the output's path and its URL, without its query.
Result<void> store_outputs(const std::vector<JobOutput>& outputs, const StagingRule& rule,
                           const std::filesystem::path& work, std::vector<StoredOutput>& stored,
                           const TransferTries& tries = {});

/// What of store_outputs() can be known before the command is started, which it would otherwise be for nothing: whether
/// the job may write the objects that it names.
/// @error kInvalid  it may not, in the words of store_outputs().
Result<void> check_grants(const std::vector<JobOutput>& outputs, const StagingRule& rule);

} // namespace fathom::agent
