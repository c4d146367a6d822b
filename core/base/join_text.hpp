#pragma once

#include <string>
#include <vector>

namespace fathom {

/// "a, b, c"; empty for none.
inline std::string join_text(const std::vector<std::string>& parts)
{
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text;
}

} // namespace fathom
