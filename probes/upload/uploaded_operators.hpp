#pragma once

#include "probes/operators/registry.hpp"
#include "probes/upload/sandboxed_operator.hpp"

#include <filesystem>
#include <optional>

namespace fathom::probes {

/// Where uploaded operators come from; paths as given on the command line.
struct UploadSources {
    std::vector<std::string> packages; ///< signed ones
    std::string keys;                  ///< file of trusted public keys, PEM
    /// An expert's own operator, not signed yet; both or none.
    std::string unsigned_manifest;
    std::string unsigned_object;
};

/// Reads packages and verifies their signatures; nothing of them runs yet. At most 64.
/// @error kInvalid  a file cannot be read, is no package or is for another processor, its key is not trusted, its
///                  signature is wrong, or two are the same version of the same operator; the detail has the file.
Result<std::vector<RegisteredOperator>> load_uploaded_operators(const UploadSources& sources,
                                                                const UploadLimits& limits);

} // namespace fathom::probes
