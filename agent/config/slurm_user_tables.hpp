#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/attempt.hpp"

#include <string>
#include <vector>

namespace fathom::agent {

/// As which local user of the center jobs of some users of the network run in Slurm: a `[[slurm_user]]` table.
struct SlurmUserRule {
    std::vector<std::string> users; ///< of the network, all of one person: accounts' names, tokens' ids; empty: anybody
    std::string project;            ///< empty: any
    std::string local_user;         ///< its name
    std::string account;            ///< of Slurm, that the jobs are charged to; empty: `slurm_account`
    std::string qos;                ///< of Slurm; empty: `slurm_qos`

    bool operator==(const SlurmUserRule&) const = default;
};

/// The tables `[[slurm_user]]`; errors go to the reader's list.
std::vector<SlurmUserRule> read_slurm_users(ObjectReader& reader, std::vector<FieldError>& errors);

/// Whether jobs of this owner are the rule's. A user that looks like a token's id is no account's name.
bool is_for(const SlurmUserRule& rule, const AttemptOwner& owner);

} // namespace fathom::agent
