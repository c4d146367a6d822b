#include "simulator/figures/figure_fields.hpp"

#include <array>
#include <string>

namespace fathom::simulation {
namespace {

constexpr std::array<FigureField, 27> kFigureFields{{
    {"jobs", &Figures::jobs},
    {"ended", &Figures::ended},
    {"unfinished", &Figures::unfinished},
    {"impossible", &Figures::impossible},
    {"mean_completion_s", &Figures::mean_completion_s},
    {"median_completion_s", &Figures::median_completion_s},
    {"p95_completion_s", &Figures::p95_completion_s},
    {"p99_completion_s", &Figures::p99_completion_s},
    {"mean_wait_s", &Figures::mean_wait_s},
    {"p95_wait_s", &Figures::p95_wait_s},
    {"max_wait_s", &Figures::max_wait_s},
    {"mean_slowdown", &Figures::mean_slowdown},
    {"p95_slowdown", &Figures::p95_slowdown},
    {"max_slowdown", &Figures::max_slowdown},
    {"utilization", &Figures::utilization},
    {"cost", &Figures::cost},
    {"energy_kwh", &Figures::energy_kwh},
    {"idle_energy_kwh", &Figures::idle_energy_kwh},
    {"with_deadline", &Figures::with_deadline},
    {"missed_deadline", &Figures::missed_deadline},
    {"failed_attempts", &Figures::failed_attempts},
    {"jain_projects", &Figures::jain_projects},
    {"jain_jobs", &Figures::jain_jobs},
    {"mean_finish_time_fairness", &Figures::mean_finish_time_fairness},
    {"p95_finish_time_fairness", &Figures::p95_finish_time_fairness},
    {"unfair_share", &Figures::unfair_share},
    {"prediction_error", &Figures::prediction_error},
}};

} // namespace

std::span<const FigureField> figure_fields()
{
    return kFigureFields;
}

double value_of(const FigureField& field, const Figures& figures)
{
    return std::visit([&](auto member) { return static_cast<double>(figures.*member); }, field.member);
}

Json to_json(const Figures& figures)
{
    Json json;
    for (const FigureField& field : figure_fields())
        json[std::string(field.name)] = std::visit([&](auto member) { return Json(figures.*member); }, field.member);
    return json;
}

} // namespace fathom::simulation
