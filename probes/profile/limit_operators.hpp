#pragma once

#include "core/model/operator_manifest.hpp"
#include "core/model/probe_task.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::profile {

/// Joins uses of one operator until at most `most` are left: first those of one size class, then all of one
/// operator; the work of what is joined is kept. Says in `notes` when it did.
void limit_operators(std::vector<OperatorUse>& uses, const std::vector<OperatorManifest>& library, std::size_t most,
                     std::vector<std::string>& notes);

} // namespace fathom::profile
