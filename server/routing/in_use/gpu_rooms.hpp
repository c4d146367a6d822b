#pragma once

#include "core/schedule/unit_ledger.hpp"
#include "server/store/transaction.hpp"

#include <map>
#include <string>
#include <vector>

namespace fathom::server {

/// The GPUs whose memory jobs share, as their memory managers last reported. The needs of attempts that a manager does
/// not know of yet count on each GPU of the attempt's unit type, since it is not known which one the attempt will get.
/// @param unit_type_ids  empty: all.
std::vector<KnownGpuRoom> select_gpu_rooms(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids = {});

/// What earlier runs of jobs' kinds had of a GPU's memory.
using GpuNeeds = std::map<std::string, GpuMemoryRequest>;
/// Of such a kind, no more than a job may ask for, as which cycles keep it; all 0: nothing is known.
GpuMemoryRequest learned_need(const GpuNeeds& needs, const std::string& kind);

/// Counts what earlier runs had of attempts that say no need and that a manager does not know of yet
/// (KnownGpuRoom::expected).
/// @param rooms  as select_gpu_rooms() has them.
void expect_learned_memory(pqxx::work& transaction, const GpuNeeds& needs, std::vector<KnownGpuRoom>& rooms);

} // namespace fathom::server
