#pragma once

#include "core/schedule/unit_ledger.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// The GPUs whose memory jobs share, as their memory managers last reported. The needs of attempts that a manager does
/// not know of yet count on each GPU of the attempt's unit type, since it is not known which one the attempt will get.
/// @param unit_type_ids  empty: all.
std::vector<KnownGpuRoom> select_gpu_rooms(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids = {});

} // namespace fathom::server
