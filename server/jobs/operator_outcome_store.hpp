#pragma once

#include "core/base/id.hpp"
#include "core/model/attempt.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

struct CatalogSnapshot;

/// Keeps predicted against actual of each operator that a profiled attempt was counted to execute
/// (core/decide/prediction/operator_outcome.hpp), by what is measured on its unit type now: rows of operator_outcome.
/// Only of attempts that ended well, on one unit: a profile does not tell how the parts are divided among several. A
/// profile comes from the center, where the job could have written anything: what does not fit is left out, and nothing
/// is decided by what is kept. Blocks; pqxx's exceptions pass through.
void keep_operator_outcomes(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                            const CatalogSnapshot& catalog);

} // namespace fathom::server
