#pragma once

#include <string>
#include <vector>

namespace fathom {

/// Arguments or variables of a program as exec() and posix_spawn() take them, with a null pointer at the end. The
/// pointers hold while `texts` lives unchanged.
inline std::vector<char*> argument_pointers(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace fathom
