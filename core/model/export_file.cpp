#include "core/model/export_file.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

std::string_view ending_of(std::string_view format)
{
    if (format == "focus") return ".csv";
    return format == "jsonl" || format == "ledger" ? ".jsonl" : ".txt";
}

} // namespace

std::string export_file_name(std::string_view format, const std::vector<std::string>& parts)
{
    std::string name(format);
    for (const std::string& part : parts)
        if (!part.empty()) name += "-" + part;
    constexpr std::string_view kUnwanted = R"(/\:*?"'<>|&;$`!()[]{}~#%)";
    for (char& c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7f || kUnwanted.find(c) != std::string_view::npos) c = '_';
    }
    return name.append(ending_of(format));
}

Json export_manifest(const ExportFile& file)
{
    return {{"file", file.name},        {"format", file.format}, {"parameters", file.parameters},
            {"bytes", file.size_bytes}, {"sha256", file.sha256}, {"written_at", format_rfc3339(file.written_at)}};
}

std::string manifest_name(const std::string& file_name)
{
    return file_name + ".manifest.json";
}

} // namespace fathom
