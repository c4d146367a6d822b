#pragma once

#include "core/schedule/unit_calendar.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// Of all active unit types. Blocks; pqxx's exceptions pass through.
UnitCalendar select_calendar(pqxx::work& transaction);
/// Of these unit types only.
UnitCalendar select_calendar_of(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids);

} // namespace fathom::server
