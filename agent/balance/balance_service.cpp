#include "agent/balance/balance_service.hpp"

#include "agent/balance/gpu_balance.hpp"
#include "agent/balance/processor_clock.hpp"
#include "agent/balance/processor_sensor.hpp"
#include "agent/balance/put_back.hpp"
#include "agent/balance/sub_unit_actuator.hpp"
#include "core/base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace fathom::agent {
namespace {

constexpr std::chrono::milliseconds kSampleInterval{100};

/// Where a unit's counters cannot be had at all.
class NoSensor final : public OccupancySensor {
  public:
    explicit NoSensor(Error why) : why_(std::move(why)) {}
    Result<Occupancies> measure() override { return why_; }

  private:
    Error why_;
};

void log_put_back(std::size_t count)
{
    if (count > 0) log_info("balance_put_back", {{"actuators", count}, {"cause", "an earlier process left them"}});
}

/// Waits until then; true when the descriptor can be read before.
bool is_stopped_until(std::chrono::steady_clock::time_point until, int stop_descriptor)
{
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd wait{stop_descriptor, POLLIN, 0};
        const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return ready < 0;
    }
}

} // namespace

BalanceService::BalanceService(BalanceConfig config, BalancePlaces places, BalanceTrace trace, SubUnitSource& sub_units)
    : config_(std::move(config)), places_(std::move(places)), trace_(std::move(trace)), sub_units_(sub_units),
      jobs_(places_.attempts)
{
}

Result<void> BalanceService::start()
{
    Result<BalanceJournal> journal = BalanceJournal::open(places_.journal);
    if (!journal) return journal.error();
    journal_ = std::make_unique<BalanceJournal>(std::move(*journal));
    log_put_back(put_all_back(*journal_, sub_units_, [](const std::string&) { return true; }));
    loops_.reserve(config_.units.size());
    for (const BalancedUnit& unit : config_.units)
        loops_.push_back(make_loop(unit));
    return {};
}

UnitLoop BalanceService::make_loop(const BalancedUnit& unit)
{
    std::unique_ptr<OccupancySensor> sensor;
    std::vector<std::unique_ptr<Actuator>> actuators;
    actuators.push_back(std::make_unique<SubUnitActuator>(unit.name, sub_units_));
    if (unit.device.empty()) {
        sensor = std::make_unique<ProcessorSensor>(unit, places_.files, config_.regulator.most_sample_age_s);
        actuators.push_back(std::make_unique<ProcessorClock>(unit, places_.files));
    } else if (Result<std::shared_ptr<GpuDriver>> driver = GpuDriver::open(places_.files.nvml_library, unit.device)) {
        sensor = std::make_unique<GpuSensor>(unit, *driver);
        actuators.push_back(std::make_unique<GpuClock>(unit, places_.files.nvml_library, *driver));
    } else {
        sensor = std::make_unique<NoSensor>(driver.error());
        log_warning("balance_unit_absent", {{"unit", unit.name}, {"reason", driver.error().detail}});
    }
    return UnitLoop(
        {.unit = unit.name, .dry_run = config_.dry_run, .regulator = config_.regulator, .period_s = config_.period_s},
        std::move(sensor), std::move(actuators), *journal_, sub_units_);
}

void BalanceService::sample()
{
    for (UnitLoop& loop : loops_)
        loop.sample();
}

void BalanceService::step(Timestamp now)
{
    jobs_.refresh();
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (const std::optional<TraceStep> done = loops_[i].step(now, jobs_.on(config_.units[i]))) trace_.add(*done);
    }
}

void BalanceService::stop()
{
    // Not loop by loop: what was changed last, at whichever unit, is put back first.
    if (journal_) put_all_back(*journal_, sub_units_, [](const std::string&) { return true; });
}

void put_back_earlier_changes(const std::filesystem::path& journal_path, SubUnitSource& sub_units)
{
    Result<BalanceJournal> journal = BalanceJournal::open(journal_path);
    if (!journal) {
        log_warning("balance_journal_not_read", {{"reason", journal.error().detail}});
        return;
    }
    log_put_back(put_all_back(*journal, sub_units, [](const std::string&) { return true; }));
}

Result<void> run_balance(BalanceService& service, double period_s, int stop_descriptor)
{
    if (Result<void> started = service.start(); !started) return started;
    const SystemClock clock;
    const auto period = std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(period_s));
    auto next_step = std::chrono::steady_clock::now() + period;
    for (;;) {
        const auto now = std::chrono::steady_clock::now();
        if (is_stopped_until(std::min(next_step, now + kSampleInterval), stop_descriptor)) break;
        if (std::chrono::steady_clock::now() < next_step) {
            service.sample();
            continue;
        }
        service.step(clock.now());
        // A step that took longer than a period is followed by a whole one.
        next_step = std::max(next_step + period, std::chrono::steady_clock::now());
    }
    service.stop();
    return {};
}

} // namespace fathom::agent
