#pragma once

#include "core/model/probe_task.hpp"
#include "server/store/transaction.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What a probe must bring with it, because the program at the center may not have it.
struct OperatorAttachments {
    std::vector<OperatorManifest> manifests;     ///< of built-in operators, as the library has them (ProbeTask)
    std::map<std::string, std::string> packages; ///< of uploaded operators: file name to content
    std::vector<std::optional<OperatorManifest>> of_uses; ///< of each use, in their order; empty for unknown ones
};

/// For other rooms: what the operators of a probe task need. The first version of a built-in operator needs
/// nothing, since every program has it. Blocks; pqxx's exceptions pass through.
/// @error kInfeasible  an uploaded operator is withdrawn.
/// @error kTooLarge    the packages are together too large for one job.
Result<OperatorAttachments> operator_attachments(pqxx::transaction_base& transaction,
                                                 const std::vector<OperatorUse>& uses);

} // namespace fathom::server
