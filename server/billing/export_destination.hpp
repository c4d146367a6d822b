#pragma once

#include "core/transfer/object_store.hpp"

#include <filesystem>
#include <string>
#include <string_view>

/// Where scheduled exports go: places that the settings of fathomd open, so that nobody who may bill can write
/// elsewhere.
namespace fathom::server {

/// What the settings say.
struct ExportPlaces {
    std::filesystem::path folder;  ///< absolute; empty: exports go to no folder
    ObjectStoreAccess store;       ///< without an endpoint: to no object store
    std::filesystem::path scratch; ///< where a file lies until it has been sent
};

struct ExportDestination {
    bool is_folder = true;
    std::string bucket; ///< of the object store
    std::string prefix; ///< "billing/": of the keys there; empty or with a slash at its end
};

/// Reads "folder" or "s3://BUCKET/PREFIX".
/// @error kInvalid  it is neither, or the settings do not open the place; the detail names the setting.
Result<ExportDestination> parse_export_destination(std::string_view text, const ExportPlaces& places);

} // namespace fathom::server
