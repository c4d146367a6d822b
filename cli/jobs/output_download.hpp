#pragma once

#include "cli/client/session.hpp"
#include "core/transfer/transfer.hpp"

#include <filesystem>
#include <string>

namespace fathom::cli {

/// Which output of a job is fetched, and where to.
struct OutputDownload {
    std::string job;              ///< its id
    std::string path;             ///< as in its outputs
    std::filesystem::path file{}; ///< empty: its name, in this folder
    TransferTries tries{};
};

/// Fetches a stored output and checks it against its SHA-256: from its https or http URL, where the data does not go
/// through the server; else, and where that URL refuses, from the copy that its center keeps, through the server. Goes
/// on where an earlier call broke off. While it takes long, lines on standard error say how far it is.
/// @return path, file, size_bytes, sha256, and from: the URL, or that it is the center's copy
/// @error kNotFound  the job declares no such output, it is not stored, or its center keeps no copy any more.
/// @error kTooLarge  the copy has more bytes than may pass through the server.
/// @error kInvalid   as download().
/// @error kConflict  the file is there already.
Result<Json> download_output(Session& session, const OutputDownload& wanted);

} // namespace fathom::cli
