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

/// Fetches a stored output from where it was stored, and checks it against its SHA-256. The data does not go through
/// the server. While it takes long, lines on standard error say how far it is.
/// @return path, file, size_bytes and sha256
/// @error kNotFound  the job declares no such output, or it is not stored.
/// @error kInvalid   it was stored where it cannot be read from here; and as download().
/// @error kConflict  the file is there already.
Result<Json> download_output(Session& session, const OutputDownload& wanted);

} // namespace fathom::cli
