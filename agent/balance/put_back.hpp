#pragma once

#include "agent/balance/balance_journal.hpp"
#include "agent/balance/sub_unit_source.hpp"

#include <functional>

namespace fathom::agent {

/// Brings an actuator to where it stood (Actuator::undo()). What is gone by now, such as a job that has ended, counts
/// as put back.
/// @error kInvalid      it is nothing that undo() wrote.
/// @error kForbidden, kUnavailable  it could not be put back.
/// @error kConflict     sub-units were asked back for the first time, and the broker has not answered: what was asked
///                      for before may still be granted, so that it has to be looked at once more.
Result<void> put_back(const Json& undo, SubUnitSource& sub_units);

/// Puts back all that the journal has of units for which `is_meant` holds, the last change or not, and forgets it
/// there. What could not be put back stays in the journal, and in the log; sub-units that were only asked back stay in
/// the journal until the next call.
/// @return how many were put back
std::size_t put_all_back(BalanceJournal& journal, SubUnitSource& sub_units,
                         const std::function<bool(const std::string& unit)>& is_meant);

} // namespace fathom::agent
