#include "agent/jobs/profiler_machine.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/log.hpp"

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kQuiet{5};
constexpr std::chrono::hours kKeep{24};
constexpr std::chrono::hours kAfterFailure{1};

Result<Json> read_machine(const Result<std::string>& output)
{
    if (!output) return output.error();
    Result<Json> json = parse_json(*output);
    if (json && !json->is_object()) return Error{Errc::kInvalid, "it wrote no JSON object"};
    return json;
}

} // namespace

bool ProfilerMachine::is_due(std::int64_t running, bool is_wanted, bool is_host_busy, Time now)
{
    if (running > 0 || !last_busy_ || (is_host_busy && !is_running_)) last_busy_ = now;
    if (is_running_ || !is_wanted || now - *last_busy_ < kQuiet) return false;
    if (next_ && now < *next_) return false;
    is_running_ = true;
    is_outdated_ = false;
    began_ = now;
    return true;
}

void ProfilerMachine::forget()
{
    text_.clear();
    next_.reset();
    is_outdated_ = is_running_;
}

bool ProfilerMachine::take(const Result<std::string>& output, Time now)
{
    const bool was_in_vain = must_stop();
    is_running_ = false;
    if (was_in_vain) return false; // again when it is quiet
    const Result<Json> machine = read_machine(output);
    if (!machine) {
        next_ = now + kAfterFailure;
        log_warning("machine_not_measured",
                    {{"reason", describe(machine.error())},
                     {"effect", "each profiled job holds its units until it has been measured for it"}});
        return false;
    }
    next_ = now + kKeep;
    text_ = machine->dump();
    log_info("machine_measured_for_profiles", {{"machine", text_}});
    return true;
}

} // namespace fathom::agent
