#include "server/routing/job_limits.hpp"

#include "core/decide/explanation/nearest_alternative.hpp"
#include "core/schedule/unit_ledger.hpp"

#include <algorithm>
#include <array>

namespace fathom::server {
namespace {

/// With maintenance and reservations, but without what runs, and with every center open.
std::vector<UnitTypeView> open_views(const CatalogSnapshot& catalog, Timestamp now)
{
    const UnitLedger ledger(catalog.unit_types, catalog.knowledge, {.calendar = &catalog.calendar, .now = now});
    std::vector<UnitTypeView> views(ledger.views().begin(), ledger.views().end());
    for (UnitTypeView& view : views)
        view.closed_reason.clear();
    return views;
}

/// The fields that say what no place can keep.
std::vector<FieldError> limits_of(const Decision& decision, const std::string& text)
{
    struct Limit {
        Filter filter{};
        const char* field{};
    };
    constexpr std::array kLimits{Limit{Filter::kQuota, "project"}, Limit{Filter::kDeadline, "deadline"},
                                 Limit{Filter::kBudget, "budget.amount"}};
    std::vector<FieldError> fields;
    for (const auto& [filter, field] : kLimits) {
        if (std::any_of(decision.candidates.begin(), decision.candidates.end(),
                        [limit = filter](const Candidate& candidate) { return candidate.removed_by == limit; }))
            fields.push_back({field, text});
    }
    return fields;
}

} // namespace

struct JobLimits::Network {
    std::vector<UnitTypeView> views;
    RouteTable table;

    Network(const CatalogSnapshot& catalog, Timestamp now)
        : views(open_views(catalog, now)), table(views, catalog.knowledge)
    {
    }
};

JobLimits::JobLimits(const CatalogSnapshot& catalog, Timestamp now) : catalog_(&catalog), now_(now) {}

JobLimits::~JobLimits() = default;

bool JobLimits::has_limit(const JobSpec& spec, const CatalogSnapshot& catalog)
{
    return spec.deadline || spec.budget || find_rules(catalog.projects, spec.project).has_quota();
}

Result<void> JobLimits::check(const JobSpec& spec, const JobOrigin& origin)
{
    if (!has_limit(spec, *catalog_)) return {};
    Result<RouteRequest> request = make_route_request(spec, *catalog_, now_);
    if (!request) return request.error();
    set_origin(*request, origin, *catalog_);
    if (!network_) network_ = std::make_unique<Network>(*catalog_, now_);
    const Decision decision = route(*request, network_->table);
    if (decision.winner) return {};
    const std::string text = nearest_alternative(*request, decision, catalog_->prices.currency());
    std::vector<FieldError> fields = limits_of(decision, text);
    return Error{Errc::kInfeasible, fields.empty() ? text : "no center can keep what the job asks for",
                 std::move(fields)};
}

} // namespace fathom::server
