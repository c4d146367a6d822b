#pragma once

#include "core/decide/queue/fair_share.hpp"
#include "core/decide/routing/route.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fathom {

/// What projects have used of their quotas, by name; those that have used nothing are missing.
using QuotaUses = std::map<std::string, QuotaUse, std::less<>>;

/// Units that a project has taken.
struct TakenUnits {
    std::string project;
    std::string unit_type_id;
    std::int64_t units{};
};

/// What a start at this place takes of a quota. @param score  of one unit there.
QuotaUse use_of(const Candidate& place, double score);
void add(QuotaUse& use, const QuotaUse& more);

/// Adds units that a project holds; the project is added where it is not there.
void add_units(std::vector<ProjectUse>& uses, const TakenUnits& taken);

} // namespace fathom
