#include "server/billing/billing_parameters.hpp"

#include "core/base/parse_number.hpp"
#include "server/billing/ledger_store.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fathom::server {
namespace {

constexpr std::array<std::pair<std::string_view, ExportFormat>, 6> kFormats{
    {{"focus", ExportFormat::kFocus},
     {"jsonl", ExportFormat::kJsonLines},
     {"ledger", ExportFormat::kLedger},
     {"apel", ExportFormat::kApelJobs},
     {"apel-summary", ExportFormat::kApelSummaries},
     {"sacct", ExportFormat::kSacct}}};

constexpr std::array<std::string_view, 4> kLevels{"", "si2k", "hepspec", "hepscore23"};

Result<std::optional<Timestamp>> time_parameter(const BillingParameters& parameters, const std::string& name)
{
    const std::string text = parameter(parameters, name);
    if (text.empty()) return std::optional<Timestamp>();
    const Result<Timestamp> time = parse_rfc3339(text.size() == 10 ? text + "T00:00:00Z" : text);
    if (!time) return parameter_error(name, "must be a day or a time, such as 2026-11-01 or 2026-11-01T00:00:00Z");
    return std::optional<Timestamp>(*time);
}

/// @error kNotFound  there is no such export.
/// @error kInvalid   parameters that it does not take.
Result<ExportFormat> format_of(std::string_view name, const BillingParameters& parameters)
{
    const auto format =
        std::find_if(kFormats.begin(), kFormats.end(), [&](const auto& one) { return one.first == name; });
    if (format == kFormats.end()) return Error{Errc::kNotFound, "there is no export " + std::string(name)};
    if (const Result<void> known = check_parameters(parameters, {"project", "center", "period", "from", "until",
                                                                 "version", "service_level_type", "last_entry"});
        !known)
        return known.error();
    if (format->second != ExportFormat::kLedger) return format->second;
    // A part of a chain proves nothing.
    for (const auto& [name_of_part, value] : parameters)
        if (name_of_part != "last_entry" && !value.empty())
            return parameter_error(name_of_part, "says nothing for the ledger, which is exported whole");
    return format->second;
}

/// Which charges and which usage.
Result<void> parse_selection(const BillingParameters& parameters, ExportRequest& wanted)
{
    Result<UsageFilter> filter = parse_usage_filter(parameters);
    if (!filter) return filter.error();
    const Result<std::string> period = period_parameter(parameters);
    if (!period) return period.error();
    wanted.charges.project = filter->project;
    wanted.charges.center = filter->center;
    wanted.charges.period = *period;
    if (filter->from) wanted.charges.from = format_rfc3339(*filter->from);
    if (filter->until) wanted.charges.until = format_rfc3339(*filter->until);
    if (!period->empty()) {
        filter->from = start_of_period(*period);
        filter->until = start_of_period(next_period(*period));
    }
    wanted.usage = std::move(*filter);
    wanted.usage.newest_revisions = true;
    return {};
}

} // namespace

Error parameter_error(std::string name, std::string detail)
{
    return {Errc::kInvalid, "the request has 1 error", {{std::move(name), std::move(detail)}}};
}

std::string parameter(const BillingParameters& parameters, const std::string& name)
{
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string() : found->second;
}

Result<std::string> period_parameter(const BillingParameters& parameters)
{
    std::string period = parameter(parameters, "period");
    if (!period.empty() && !start_of_period(period))
        return parameter_error("period", "must be a month, such as 2026-11");
    return period;
}

Result<void> check_parameters(const BillingParameters& parameters, std::initializer_list<std::string_view> known)
{
    for (const auto& [name, value] : parameters)
        if (std::find(known.begin(), known.end(), name) == known.end())
            return parameter_error(name, "is not known here");
    return {};
}

Result<UsageFilter> parse_usage_filter(const BillingParameters& parameters)
{
    UsageFilter filter;
    filter.project = parameter(parameters, "project");
    filter.center = parameter(parameters, "center");
    filter.job_id = parameter(parameters, "job_id");
    const Result<std::optional<Timestamp>> from = time_parameter(parameters, "from");
    if (!from) return from.error();
    const Result<std::optional<Timestamp>> until = time_parameter(parameters, "until");
    if (!until) return until.error();
    filter.from = *from;
    filter.until = *until;
    return filter;
}

Result<ExportRequest> parse_export(std::string_view name, const BillingParameters& parameters)
{
    const Result<ExportFormat> format = format_of(name, parameters);
    if (!format) return format.error();
    ExportRequest wanted;
    wanted.format = *format;
    if (const Result<void> selected = parse_selection(parameters, wanted); !selected) return selected.error();
    const std::string version = parameter(parameters, "version");
    if (!version.empty() && version != "1.2" && version != "1.3")
        return parameter_error("version", "must be 1.2 or 1.3");
    if (version == "1.3") wanted.focus.version = FocusVersion::k1_3;
    wanted.service_level = parameter(parameters, "service_level_type");
    if (std::find(kLevels.begin(), kLevels.end(), wanted.service_level) == kLevels.end())
        return parameter_error("service_level_type", "must be si2k, hepspec or hepscore23: APEL takes no other");
    const std::string last = parameter(parameters, "last_entry");
    if (last.empty()) return wanted;
    const auto last_seq = parse_number<std::int64_t>(last);
    if (!last_seq || *last_seq < 0)
        return parameter_error("last_entry", "must be the number of an entry of the ledger");
    wanted.charges.last_seq = *last_seq;
    return wanted;
}

} // namespace fathom::server
