#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Files that billing exports are written to (docs/billing.md), by `fathom bill export` and by schedules.
namespace fathom {

/// "focus-2026-11-materials.csv": the format, then the parts that are not empty, and an ending that fits the format.
/// No path: characters that a file's name cannot hold, or a shell would take for its own, are '_'.
std::string export_file_name(std::string_view format, const std::vector<std::string>& parts);

/// A file that is complete.
struct ExportFile {
    std::string name{};
    std::string format{};
    Json parameters = Json::object(); ///< of the export, as the REST interface takes them
    std::int64_t size_bytes{};
    std::string sha256{}; ///< lower-case hex
    Timestamp written_at{};
};

/// The document that lies beside the file, as `<name>.manifest.json`, once the file is complete.
Json export_manifest(const ExportFile& file);
std::string manifest_name(const std::string& file_name);

} // namespace fathom
