#pragma once

#include "core/schedule/unit_ledger.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// Of GPUs whose memory jobs share what the memory managers last told, with the needs of attempts that these do not
/// know of yet; of such nobody knows on which GPU of their unit type they will be, so that they count on each.
/// @param unit_type_ids  empty: all.
std::vector<KnownGpuRoom> select_gpu_rooms(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids = {});

} // namespace fathom::server
