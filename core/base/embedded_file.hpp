#pragma once

#include <span>
#include <string_view>

namespace fathom {

/// A text file of the repository that is compiled into the program (cmake/FathomEmbed.cmake).
struct EmbeddedFile {
    std::string_view name; ///< path relative to the folder that embeds it
    std::string_view content;
};

} // namespace fathom
