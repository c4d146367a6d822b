#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/routing/route.hpp"

#include <string_view>
#include <vector>

/// A decision as a document, for people and programs.
namespace fathom {

Json to_json(const std::vector<Counterfactual>& counterfactuals);

/// The explanation that is stored with a placement and shown by `fathom job explain`.
/// @param currency  of the prices; empty: nothing has a price, so no costs are written.
Json to_json(const Decision& decision, std::string_view currency = {});

/// A decision that was kept, with its members named as they are now: the version before named some otherwise.
Json with_current_names(Json decision);

} // namespace fathom
