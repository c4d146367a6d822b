#include "server/billing/scheduled_export.hpp"

#include "core/decide/billing/export_calendar.hpp"
#include "core/model/export_file.hpp"

#include <array>

namespace fathom::server {
namespace {

Error schedule_error(std::string field, std::string detail)
{
    return {Errc::kInvalid, "the export schedule has 1 error", {{std::move(field), std::move(detail)}}};
}

/// A schedule says no times: those come from its clock.
constexpr std::array<std::string_view, 4> kTakenParameters{"project", "center", "version", "service_level_type"};

} // namespace

Result<ScheduledExport> scheduled_export(const ExportSchedule& schedule, Timestamp due)
{
    const std::optional<ExportMonths> months = parse_export_months(schedule.months);
    if (!months) return schedule_error("months", "must be previous, current or all");
    if (schedule.format == "ledger" && *months != ExportMonths::kAll)
        return schedule_error("months", "must be all for the ledger, which is exported whole");
    ScheduledExport wanted;
    for (const auto& [name, value] : schedule.parameters.items()) {
        if (std::find(kTakenParameters.begin(), kTakenParameters.end(), name) == kTakenParameters.end())
            return schedule_error("parameters." + name, "must be project, center, version or service_level_type");
        if (!value.is_string()) return schedule_error("parameters." + name, "must be a text");
        wanted.parameters[name] = value.get<std::string>();
    }
    wanted.period = export_period(*months, due);
    if (!wanted.period.empty()) wanted.parameters["period"] = wanted.period;
    Result<ExportRequest> request = parse_export(schedule.format, wanted.parameters);
    if (!request) {
        Error error = request.error();
        for (FieldError& field : error.fields)
            field.field = "parameters." + field.field;
        return error;
    }
    wanted.request = std::move(*request);
    wanted.file_name = export_file_name(schedule.format, {wanted.period, parameter(wanted.parameters, "project"),
                                                          parameter(wanted.parameters, "center")});
    return wanted;
}

} // namespace fathom::server
