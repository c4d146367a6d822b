#include "server/routing/project_use/project_uses.hpp"

#include "server/catalog/catalog_scores.hpp"

#include <algorithm>
#include <unordered_map>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kLifetime = 2s;
constexpr int kReadingShare = 20;

} // namespace

std::vector<UnitTypeSize> unit_type_sizes(const CatalogSnapshot& catalog)
{
    std::vector<UnitTypeSize> sizes;
    sizes.reserve(catalog.unit_types.size());
    for (const UnitTypeView& view : catalog.unit_types)
        sizes.push_back({view.id.value, view.unit_count});
    return sizes;
}

ScoreOf scores_of(const CatalogSnapshot& catalog)
{
    auto scores = std::make_shared<std::unordered_map<std::string, double>>();
    for (const UnitTypeView& view : catalog.unit_types)
        scores->emplace(view.id.value, view.score);
    return [scores](const std::string& unit_type_id) {
        const auto found = scores->find(unit_type_id);
        return found == scores->end() ? kAssumedScore : found->second;
    };
}

std::vector<ProjectUse> ProjectUses::get(pqxx::work& transaction, const CatalogSnapshot& catalog)
{
    const Moment began = std::chrono::steady_clock::now();
    std::vector<ProjectUse> uses;
    bool is_due = true;
    {
        const std::scoped_lock lock(mutex_);
        is_due = !due_ || began >= *due_;
        if (!is_due) uses = uses_;
    }
    if (is_due) {
        uses = select_project_uses(transaction); // unlocked: others need not wait for the database
        const Moment ended = std::chrono::steady_clock::now();
        const std::scoped_lock lock(mutex_);
        uses_ = uses;
        due_ = std::max<Moment>(began + kLifetime, ended + kReadingShare * (ended - began));
    }
    for (ProjectUse& use : uses)
        use.share = find_rules(catalog.projects, use.project).share;
    return uses;
}

void ProjectUses::add(const std::vector<TakenUnits>& started)
{
    const std::scoped_lock lock(mutex_);
    for (const TakenUnits& one : started)
        add_units(uses_, one);
}

void read_use(pqxx::work& transaction, const CatalogSnapshot& catalog, RouteRequest& request)
{
    if (!find_rules(catalog.projects, request.project).has_quota()) return;
    request.used = select_quota_uses(transaction, {request.project}, scores_of(catalog))[request.project];
}

} // namespace fathom::server
