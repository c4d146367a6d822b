#pragma once

#include <span>
#include <string_view>

namespace fathom::server {

/// One file of the web console, as the build made it.
struct ConsoleFile {
    std::string_view path; ///< as in a URL, without the first slash: "assets/main-3f2a.js"
    std::string_view content;
    std::string_view gzip; ///< the content packed; empty where that saves nothing
};

/// Sorted by path. Empty in a build without the console (FATHOM_CONSOLE=OFF).
std::span<const ConsoleFile> console_files();

} // namespace fathom::server
