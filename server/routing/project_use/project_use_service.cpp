#include "server/routing/project_use/project_use_service.hpp"

#include "core/model/money.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// Of one run of the periodic task: a backlog is worked off without holding up others for long.
constexpr std::int64_t kMaxCounted = 5000;

std::string amount_text(double amount)
{
    return format_amount(to_micros(amount));
}

Json to_json(const UnitTypeUse& use)
{
    return {{"center", use.center},         {"unit_type", use.unit_type},      {"unit_type_id", use.unit_type_id},
            {"units", use.units},           {"unit_hours", use.unit_s / 3600}, {"score_hours", use.score_hours},
            {"cost", amount_text(use.cost)}};
}

Json report_json(const std::string& project, const ProjectRules& rules, const std::vector<UnitTypeUse>& month,
                 const FairShare& standing, const std::string& currency, Timestamp now)
{
    QuotaUse total;
    double unit_s = 0;
    Json unit_types = Json::array();
    for (const UnitTypeUse& use : month) {
        total.units += use.units;
        total.score_hours += use.score_hours;
        total.cost += use.cost;
        unit_s += use.unit_s;
        unit_types.push_back(to_json(use));
    }
    return {{"project", project},
            {"month", format_rfc3339(now).substr(0, 7)},
            {"units", total.units},
            {"unit_hours", unit_s / 3600},
            {"score_hours", total.score_hours},
            {"cost", amount_text(total.cost)},
            {"currency", currency.empty() ? Json() : Json(currency)},
            {"quota",
             {{"max_units", rules.quota.max_units},
              {"max_score_hours", rules.quota.max_score_hours},
              {"max_cost", amount_text(rules.quota.max_cost)}}},
            {"fair_share",
             {{"share", rules.share},
              {"dominant_share", standing.dominant_share},
              {"used_share", standing.used_share},
              {"load", standing.load}}},
            {"unit_types", std::move(unit_types)}};
}

} // namespace

asio::awaitable<Result<Json>> ProjectUseService::report(std::string project, Timestamp now)
{
    auto work = [project, now, catalog = catalog_->get()](pqxx::work& transaction) -> Result<Json> {
        const std::vector<UnitTypeUse> month = select_month_use(transaction, project, scores_of(*catalog));
        std::vector<ProjectUse> uses = select_project_uses(transaction);
        add_units(uses, {project, {}, 0}); // named, also when it has used nothing
        for (ProjectUse& use : uses)
            use.share = find_rules(catalog->projects, use.project).share;
        const FairShare standing = fair_shares(uses, unit_type_sizes(*catalog)).at(project);
        return report_json(project, find_rules(catalog->projects, project), month, standing, catalog->prices.currency(),
                           now);
    };
    co_return co_await database_->run(std::move(work));
}

Result<void> ProjectUseService::count_ended(pqxx::work& transaction) const
{
    count_ended_attempts(transaction, scores_of(*catalog_->get()), kMaxCounted);
    return {};
}

} // namespace fathom::server
