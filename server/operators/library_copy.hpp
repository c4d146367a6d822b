#pragma once

#include "server/operators/followed_library.hpp"
#include "server/operators/operator_library.hpp"
#include "server/ports/probe_run_terminator.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// How a library becomes that of another fathomd: its versions come under the numbers that they have there, so that
/// results, tasks and packages mean the same in both networks.
namespace fathom::server {

using VersionName = std::pair<std::string, std::int64_t>; ///< operator, version

struct LibraryCopy {
    std::vector<FollowedVersion> missing; ///< here, by operator and version
    std::vector<VersionName> withdrawn;   ///< there, and not yet here
    std::vector<std::string> differences; ///< what cannot be as it is there, a sentence each
};

/// What is to be copied. Nothing is taken back here: what only this library has stays. Of an operator nothing is copied
/// once a version of it means something else here. Pure.
LibraryCopy plan_library_copy(const OperatorLibrary& own, const FollowedLibrary& followed);

/// Copies what plan_library_copy() finds against the library as it is stored now, with an audit row for each version;
/// blocks, and lets pqxx's exceptions through.
/// @param packages  of uploaded versions that are missing; must be signed with keys that are trusted here.
/// @param source    address of the other fathomd, for the audit log.
/// @param runs      ends the runs of uploaded versions that are withdrawn.
/// @return what was copied, and what cannot be.
Result<LibraryCopy> copy_library(pqxx::work& transaction, const FollowedLibrary& followed,
                                 const std::map<VersionName, OperatorPackage>& packages, const std::string& source,
                                 ProbeRunTerminator& runs);

} // namespace fathom::server
