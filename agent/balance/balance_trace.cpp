#include "agent/balance/balance_trace.hpp"

#include "core/base/error_text.hpp"
#include "core/base/log.hpp"
#include "core/base/open_inside.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {

Json to_json(const TraceStep& trace)
{
    const RegulatorStep& step = trace.step;
    const bool is_measured = step.outcome != StepOutcome::kNoSample;
    const auto figure = [&](double value) { return is_measured ? Json(value) : Json(); };
    return {{"time", format_rfc3339(trace.at)},
            {"unit", trace.unit},
            {"job", trace.job},
            {"dry_run", trace.is_dry_run},
            {"law", trace.law},
            {"band", trace.band ? Json(*trace.band) : Json()},
            {"outcome", to_string(step.outcome)},
            {"P_p", figure(step.occupancies.transfer)},
            {"P_d", figure(step.occupancies.load)},
            {"sample", {{"P_p", figure(step.sample.transfer)}, {"P_d", figure(step.sample.load)}}},
            {"e", figure(step.error)},
            {"ec", figure(step.change)},
            {"region", is_measured ? Json(to_string(step.region)) : Json()},
            {"gains",
             {{"K_p", figure(step.gains.proportional)},
              {"K_i", figure(step.gains.integral)},
              {"K_d", figure(step.gains.derivative)}}},
            {"u", figure(step.output)},
            {"actions",
             {{"sub_units", step.actions.sub_units},
              {"clock_mhz", step.actions.clock_mhz},
              {"precision_steps", step.actions.precision_steps}}},
            {"wanted_sub_units", step.wanted_sub_units ? Json(*step.wanted_sub_units) : Json()},
            {"reason", step.reason},
            {"faults", trace.faults}};
}

BalanceTrace::BalanceTrace(OpenFile folder, uid_t owner, gid_t group, std::int64_t most_bytes, std::size_t ring)
    : folder_(std::move(folder)), owner_(owner), group_(group), most_bytes_(most_bytes), ring_(ring)
{
}

void BalanceTrace::add(const TraceStep& step)
{
    recent_.push_back(step);
    if (recent_.size() > ring_) recent_.pop_front();
    const std::string line = to_json(step).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const Result<void> written = write(line);
    if (!written && !has_failed_) log_warning("balance_trace_not_written", {{"reason", written.error().detail}});
    has_failed_ = !written;
}

Result<void> BalanceTrace::write(const std::string& line)
{
    const std::uintmax_t size = size_of(folder_.number(), kTraceName).value_or(0);
    if (size > 0 && size + line.size() > static_cast<std::uintmax_t>(most_bytes_) &&
        ::renameat(folder_.number(), kTraceName, folder_.number(), kOlderTraceName) != 0)
        return Error{Errc::kUnavailable, "cannot begin a new file: " + error_text(errno)};
    const Result<OpenFile> file = open_log(folder_.number(), kTraceName, owner_, group_);
    if (!file) return file.error();
    if (::write(file->number(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        return Error{Errc::kUnavailable, "cannot write: " + error_text(errno)};
    return {};
}

} // namespace fathom::agent
