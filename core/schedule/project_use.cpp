#include "core/schedule/project_use.hpp"

#include <algorithm>

namespace fathom {

QuotaUse use_of(const Candidate& place, double score)
{
    return quota_use(place.unit_count, place.prediction.run_s, score, place.cost);
}

void add(QuotaUse& use, const QuotaUse& more)
{
    use.units += more.units;
    use.score_hours += more.score_hours;
    use.cost += more.cost;
}

void add_units(std::vector<ProjectUse>& uses, const TakenUnits& taken)
{
    auto found =
        std::find_if(uses.begin(), uses.end(), [&](const ProjectUse& use) { return use.project == taken.project; });
    if (found == uses.end())
        found = uses.insert(uses.end(), {.project = taken.project, .used_unit_s = {}, .units = {}});
    found->units[taken.unit_type_id] += taken.units;
}

} // namespace fathom
