#pragma once

#include "core/base/id.hpp"
#include "server/probing/findings/finding_store.hpp"
#include "server/probing/findings/verify_run.hpp"
#include "server/probing/tasks/probing_store.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>
#include <vector>

/// Which runs the metascheduler computes itself, and what follows. All functions take the caller's transaction, block,
/// and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// Marks a run that has just succeeded to be verified: the first one on a unit type always, later ones when `is_drawn`,
/// and all runs of one order whose results differ, for a majority proves nothing.
void choose_verification(pqxx::transaction_base& transaction, const EndingRun& run, const ProbeResult& result,
                         bool is_drawn);

/// A run that is to be verified.
struct VerificationOrder {
    FindingPlace place;
    ProbeTask document; ///< with the manifests that it needs
    ProbeResult claimed;
    std::string obstacle; ///< not empty: it cannot be verified; why
};
/// Takes the oldest one for ten minutes: when this process ends before it has concluded, another takes it then.
std::optional<VerificationOrder> claim_verification(pqxx::transaction_base& transaction);

/// Writes down what came of it. A wrong result loses its measurements, and so do those of the unit type that nobody has
/// verified since the last right one: they come from the same hand. It becomes a finding.
void conclude_verification(pqxx::work& transaction, const VerificationOrder& order, const VerificationVerdict& verdict);

/// Makes measurements of runs that had succeeded unusable; they stay readable.
void void_measurements(pqxx::work& transaction, const CenterId& center, const std::vector<std::string>& runs,
                       const std::string& reason);

} // namespace fathom::server
