#pragma once

#include "core/base/json_reader.hpp"

#include <string>
#include <vector>

namespace fathom::agent {

/// As which user ids the pods of some users of the network run: a `[[kubernetes_user]]` table. The ids need no account
/// on the agent's host: what they own is on the volume of the jobs' files.
struct KubernetesUserRule {
    std::vector<std::string> users; ///< of the network, all of one person: accounts' names, tokens' ids; empty: anybody
    std::string project;            ///< empty: any
    unsigned uid{};                 ///< of ordinary users: from 1000 on
    unsigned gid{};                 ///< not root's
    std::string name;               ///< what USER and LOGNAME say; the id where the table has none

    bool operator==(const KubernetesUserRule&) const = default;
};

/// The tables `[[kubernetes_user]]`; errors go to the reader's list.
std::vector<KubernetesUserRule> read_kubernetes_users(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom::agent
