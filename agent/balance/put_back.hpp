#pragma once

#include "agent/balance/balance_journal.hpp"
#include "agent/balance/sub_unit_source.hpp"

#include <functional>

namespace fathom::agent {

/// How often sub-units are asked back before they are left where they are.
inline constexpr std::int64_t kMaxTimesAskedBack = 10;

/// Brings an actuator to where it stood (Actuator::undo()). What is gone by now, such as a job that has ended, counts
/// as put back.
/// @error kInvalid      it is nothing that undo() wrote.
/// @error kForbidden, kUnavailable  it could not be put back.
/// @error kConflict     sub-units were asked back, and the broker has not answered: it may refuse, and what was asked
///                      for before may still be granted, so that it has to be looked at once more.
/// @error kTooMany      sub-units were asked back kMaxTimesAskedBack times in vain.
Result<void> put_back(const Json& undo, SubUnitSource& sub_units);

/// Puts back all that the journal has of units for which `is_meant` holds, what was changed last first, and forgets it
/// there. What could not be put back stays in the journal, and in the log. Sub-units that were asked back stay in the
/// journal, and are asked back with each later call, until the unit has what it had; the log says what the broker
/// refused, and that they are given up after kMaxTimesAskedBack calls.
/// @return how many were put back
std::size_t put_all_back(BalanceJournal& journal, SubUnitSource& sub_units,
                         const std::function<bool(const std::string& unit)>& is_meant);

/// Whether sub-units of the unit were asked back, and the journal still has them.
bool waits_for_sub_units(const BalanceJournal& journal, const std::string& unit);

} // namespace fathom::agent
