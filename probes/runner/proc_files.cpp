#include "probes/runner/proc_files.hpp"

#include "core/base/parse_number.hpp"

#include <fstream>
#include <sstream>

namespace fathom::probes {

std::string proc_text(const std::string& path)
{
    const std::ifstream file(path); // the size of such files is not known before they are read
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string proc_value(std::string_view text, std::string_view key)
{
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with(key)) continue;
        const std::size_t colon = line.find_first_not_of(" \t", key.size());
        if (colon == std::string_view::npos || line[colon] != ':') continue;
        const std::size_t value = line.find_first_not_of(" \t", colon + 1);
        return value == std::string_view::npos ? "" : std::string(line.substr(value));
    }
    return "";
}

std::optional<double> leading_number(std::string_view text)
{
    return take_number<double>(text);
}

} // namespace fathom::probes
