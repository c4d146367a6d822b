#include "agent/balance/processor_clock.hpp"

#include "agent/balance/knob_file.hpp"
#include "core/base/parse_number.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr const char* kLimitName = "scaling_max_freq";

Result<std::int64_t> read_khz(const std::filesystem::path& path)
{
    const Result<std::string> text = read_knob(path);
    if (!text) return text.error();
    std::string_view rest = *text;
    const std::int64_t khz = take_number<std::int64_t>(rest).value_or(0);
    if (khz <= 0) return Error{Errc::kConflict, path.string() + " holds no frequency"};
    return khz;
}

} // namespace

ProcessorClock::ProcessorClock(const BalancedUnit& unit, const HostFiles& files)
{
    for (const std::int64_t cpu : unit.cpus)
        policies_.push_back({files.cpus / ("cpu" + std::to_string(cpu)) / "cpufreq", 0});
}

Result<void> ProcessorClock::look(UnitPosition& position)
{
    ClockPosition found{.mhz = 0, .least_mhz = 0, .most_mhz = 0};
    for (Policy& policy : policies_) {
        const Result<std::int64_t> limit = read_khz(policy.folder / kLimitName);
        const Result<std::int64_t> least = read_khz(policy.folder / "cpuinfo_min_freq");
        const Result<std::int64_t> most = read_khz(policy.folder / "cpuinfo_max_freq");
        if (!limit) return limit.error();
        if (!least) return least.error();
        if (!most) return most.error();
        policy.limit_khz = *limit;
        found.mhz = std::max(found.mhz, *limit / 1000);
        found.least_mhz = std::max(found.least_mhz, *least / 1000);
        found.most_mhz = found.most_mhz == 0 ? *most / 1000 : std::min(found.most_mhz, *most / 1000);
    }
    if (policies_.empty()) return Error{Errc::kUnavailable, "absent: the unit has no processors"};
    position_ = found;
    position.clock = found;
    return {};
}

Json ProcessorClock::undo() const
{
    Json files = Json::array();
    for (const Policy& policy : policies_)
        files.push_back(
            {{"path", (policy.folder / kLimitName).string()}, {"content", std::to_string(policy.limit_khz)}});
    return {{"kind", "files"}, {"files", std::move(files)}};
}

Result<void> ProcessorClock::act(const BalanceActions& actions, std::optional<std::int64_t>)
{
    const std::int64_t mhz = std::clamp(position_.mhz + actions.clock_mhz, position_.least_mhz,
                                        std::max(position_.least_mhz, position_.most_mhz));
    for (const Policy& policy : policies_) {
        if (Result<void> written = write_knob(policy.folder / kLimitName, std::to_string(mhz * 1000)); !written)
            return written;
    }
    return {};
}

} // namespace fathom::agent
