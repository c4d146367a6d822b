#pragma once

#include "server/jobs/learning_store.hpp"
#include "server/routing/catalog_snapshot.hpp"

namespace fathom::server {

/// What a job executes, and how that is known.
struct ObservedWork {
    std::string source;                 ///< "profile", "given", "type" or "none"
    std::vector<OperatorUse> operators; ///< resolved against the library; those of a profile at most 64, by share
    std::vector<std::string> left_out;  ///< what a profile says that is no operator of the library, for people
};

/// The operators of a job: as its profile counted them, else as it was submitted with. A profile comes from the center,
/// where the job could have written anything: what does not fit the library is left out. Pure.
ObservedWork observe_work(const JobEvidence& evidence, const CatalogSnapshot& catalog);

/// For GET /jobs/{id}/operators: the operators with their size classes, counts and shares, the remainder, and what was
/// not matched (M3, M6).
Json to_json(const JobEvidence& evidence, const ObservedWork& work, const CatalogSnapshot& catalog);

} // namespace fathom::server
