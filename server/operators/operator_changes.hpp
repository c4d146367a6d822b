#pragma once

#include "server/api/caller.hpp"
#include "server/operators/operator_order.hpp"
#include "server/operators/operators_store.hpp"
#include "server/ports/probe_run_terminator.hpp"
#include "server/store/transaction.hpp"

#include <functional>
#include <optional>
#include <vector>

/// How the library changes. Each runs in the caller's transaction, locks what it must, writes the audit row and the
/// wake-ups, blocks, and lets pqxx's exceptions through.
namespace fathom::server {

/// Says whether a change may be based on this version (If-Match).
using OperatorVersionRule = std::function<bool(std::int64_t version)>;

/// Has all replicas read the library again once the transaction has ended.
void wake_library_readers(pqxx::work& transaction);

/// Adds the manifests of a release that the library does not have yet: one that differs from the newest *built-in*
/// version of its operator becomes the next version, so that experts' changes stay the newest until a release
/// changes the operator itself. Returns how many versions were added.
int add_release(pqxx::work& transaction, const std::vector<OperatorManifest>& manifests);

/// Adds an operator from a signed package: a new one as version 1, else the next version.
/// @error kInvalid    a plain manifest: there is no code for it.
/// @error kConflict   the operator exists (plain manifest), is built in, or the package has not the next version.
/// @error kForbidden  the package's signature is not one of a trusted key.
/// What a center's key signed is reviewed first: kConflict, too.
Result<OperatorRecord> add_operator(pqxx::work& transaction, const Caller& caller, const OperatorOrder& order);

/// Whether a package can become the next version of its operator. The library must be locked.
/// @error kConflict   the operator is built in, or the package has not the next version.
/// @error kForbidden  the package's signature is not one of a trusted key.
Result<void> check_package(pqxx::work& transaction, const OperatorPackage& package);

/// Makes the next version of an operator; what changes nothing gives the version in use as it is.
/// Empty when `rule` refuses the version in use.
/// @error kNotFound, kInvalid, kConflict, kForbidden
Result<std::optional<OperatorRecord>> change_operator(pqxx::work& transaction, const Caller& caller,
                                                      const std::string& id, const OperatorOrder& order,
                                                      const OperatorVersionRule& rule);

/// Withdraws a version; one that is withdrawn already stays as it is.
/// @param runs  ends the runs of an uploaded version; nullptr: nobody does.
/// @error kNotFound
Result<void> withdraw_operator(pqxx::work& transaction, const Caller& caller, const std::string& id,
                               std::int64_t version, ProbeRunTerminator* runs);

} // namespace fathom::server
