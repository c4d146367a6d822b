#pragma once

#include <string>
#include <string_view>

namespace fathom::simulation {

/// Text that stands for itself in HTML and XML, inside of quoted attributes too. What no terminal should see
/// (cli/text/display_text) no browser gets either.
std::string escaped(std::string_view text);

/// `<name>` + escaped text + `</name>`. `opening`: a name, with attributes if need be.
std::string element(std::string_view opening, std::string_view text);

/// The same of markup.
std::string enclosed(std::string_view opening, std::string_view markup);

/// A number of a drawing: at most one decimal.
std::string coordinate(double value);

} // namespace fathom::simulation
