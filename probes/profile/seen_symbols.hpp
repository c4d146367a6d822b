#pragma once

#include "core/model/operator_manifest.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::profile {

/// The names by which calls are reported, as operators are compared with them (plain_symbol).
std::set<std::string> reported_symbols();

/// Why calls of an entry point that operators name are not reported (symbols/not_counted.def); empty where nothing is
/// said of this entry point.
std::string_view why_not_counted(std::string_view symbol);

/// All entry points of which why_not_counted says something.
std::vector<std::string_view> marked_symbols();

/// An entry point that an operator is recognised by.
struct NamedSymbol {
    std::string operator_id;
    std::string symbol;
    bool is_reported{};
    std::string_view why_not{}; ///< why_not_counted, where it is not reported
};

/// All of a library, in order of operators and of their manifests.
std::vector<NamedSymbol> named_symbols(const std::vector<OperatorManifest>& library);

/// named_symbols as a table for people.
std::string symbols_table(const std::vector<OperatorManifest>& library);

} // namespace fathom::profile
