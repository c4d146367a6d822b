#include "cli/client/input_file.hpp"

#include "core/base/file.hpp"
#include "core/base/yaml.hpp"

#include <istream>
#include <iterator>

namespace fathom::cli {
namespace {

bool looks_like_json(const std::string& path, const std::string& text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return path.ends_with(".json") || (first != std::string::npos && (text[first] == '{' || text[first] == '['));
}

Result<std::string> read_text(const std::string& path, const Console& console, std::size_t max_bytes)
{
    if (path != "-") return read_file(path, max_bytes);
    std::string text{std::istreambuf_iterator<char>(*console.in), std::istreambuf_iterator<char>()};
    if (text.size() > max_bytes)
        return Error{Errc::kTooLarge, "larger than " + std::to_string(max_bytes >> 20U) + " MiB"};
    return text;
}

} // namespace

Error in_file(const std::string& path, const Error& error)
{
    return Error{Errc::kInvalid, (path == "-" ? "standard input" : path) + ": " + error.detail, error.fields};
}

Result<Json> read_input_file(const std::string& path, const Console& console, JsonLimits limits)
{
    const Result<std::string> text = read_text(path, console, limits.max_bytes);
    if (!text) return in_file(path, text.error());
    if (text->find_first_not_of(" \t\r\n") == std::string::npos)
        return in_file(path,
                       Error{Errc::kInvalid, "is empty: the command that should have written it may have failed"});
    const bool by_name = path.ends_with(".yaml") || path.ends_with(".yml");
    Result<Json> json =
        !by_name && looks_like_json(path, *text) ? parse_json(*text, limits) : parse_yaml(*text, limits);
    if (!json) return in_file(path, json.error());
    return json;
}

} // namespace fathom::cli
