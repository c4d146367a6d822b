#pragma once

#include <set>
#include <string>
#include <string_view>

namespace fathom {

/// Of the known names the one that was probably meant: at most a third of its letters, and at most two, would have to
/// be added, left out, changed or swapped with their neighbour; upper and lower case are alike. Of several the nearest,
/// then the first. Empty when none is near. (Optimal string alignment distance, bounded.)
std::string nearest_name(std::string_view given, const std::set<std::string, std::less<>>& known);

/// "; did you mean gamma?", or else the names that there are: "; there are alpha, beta and 7 more".
std::string name_hint(std::string_view given, const std::set<std::string, std::less<>>& known);

/// "alpha", "alpha and beta", "alpha, beta and 7 more" for at most so many.
std::string short_list(const std::set<std::string, std::less<>>& names, std::size_t most = 8);

} // namespace fathom
