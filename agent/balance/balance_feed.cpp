#include "agent/balance/balance_feed.hpp"

#include "core/base/log.hpp"

namespace fathom::agent {
namespace {

/// The member of an object; null where there is none.
const Json& member_of(const Json& json, const char* name)
{
    static const Json kNothing;
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found == json.end() ? kNothing : *found;
}

/// Under the names of the interface. The trace has those of the formulas.
Json renamed(const Json& line)
{
    const Json& gains = member_of(line, "gains");
    const Json& sample = member_of(line, "sample");
    return {{"at", member_of(line, "time")},
            {"unit", member_of(line, "unit")},
            {"attempt", member_of(line, "job")},
            {"dry_run", member_of(line, "dry_run")},
            {"law", member_of(line, "law")},
            {"band", member_of(line, "band")},
            {"outcome", member_of(line, "outcome")},
            {"transfer", member_of(line, "P_p")},
            {"load", member_of(line, "P_d")},
            {"sample_transfer", member_of(sample, "P_p")},
            {"sample_load", member_of(sample, "P_d")},
            {"error", member_of(line, "e")},
            {"change", member_of(line, "ec")},
            {"region", member_of(line, "region")},
            {"gains",
             {{"proportional", member_of(gains, "K_p")},
              {"integral", member_of(gains, "K_i")},
              {"derivative", member_of(gains, "K_d")}}},
            {"output", member_of(line, "u")},
            {"actions", member_of(line, "actions")},
            {"wanted_sub_units", member_of(line, "wanted_sub_units")}};
}

} // namespace

Result<BalanceStep> to_balance_step(const Json& line)
{
    const Json json = renamed(line);
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    BalanceStep step = read_balance_step(reader, errors);
    // As they come: a text may be longer than the interface takes.
    if (const Json& reason = member_of(line, "reason"); reason.is_string()) step.reason = reason.get<std::string>();
    for (const Json& fault : member_of(line, "faults"))
        if (fault.is_string()) step.faults.push_back(fault.get<std::string>());
    fit_bounds(step);
    return value_or_errors(std::move(step), std::move(errors), "the step");
}

std::vector<BalanceStep> BalanceFeed::next()
{
    std::vector<BalanceStep> steps;
    const Result<std::vector<Json>> lines = reader_.next();
    if (!lines && !has_failed_) log_warning("balance_trace_not_read", {{"reason", describe(lines.error())}});
    has_failed_ = !lines;
    if (!lines) return steps;
    for (const Json& line : *lines) {
        if (Result<BalanceStep> step = to_balance_step(line)) steps.push_back(std::move(*step));
    }
    return steps;
}

} // namespace fathom::agent
