#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/decide/capacity/holds.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom {

/// An advance reservation that has not ended.
struct KnownHold {
    UnitTypeId unit_type_id;
    std::string project;
    Timestamp from{};
    Timestamp to{};
    std::int64_t unit_count{};
};

/// A maintenance of one unit type that has not ended.
struct KnownClosure {
    UnitTypeId unit_type_id;
    Timestamp from{};
    Timestamp to{};
};

/// What is planned with unit types, by the moments: a decision that is made later counts its seconds from another now.
struct UnitCalendar {
    std::vector<KnownHold> holds;
    std::vector<KnownClosure> closures;
};

Hold hold_from(const KnownHold& hold, Timestamp now);
Closure closure_from(const KnownClosure& closure, Timestamp now);

} // namespace fathom
