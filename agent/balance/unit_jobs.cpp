#include "agent/balance/unit_jobs.hpp"

#include "agent/catalog/device.hpp"
#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/file.hpp"

#include <algorithm>
#include <sstream>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// An order may bring files for its job.
constexpr std::size_t kMaxOrderBytes = 64UL << 20U;

std::string variable_of(const RunOrder& run, const std::string& name)
{
    const auto own = run.order.environment.find(name);
    if (own != run.order.environment.end()) return own->second;
    const auto centers = run.environment.find(name);
    return centers == run.environment.end() ? std::string() : centers->second;
}

std::vector<std::string> split_devices(const std::string& text)
{
    std::vector<std::string> names;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
        names.push_back(part);
    return names;
}

bool is_running(const AttemptFolder& folder)
{
    std::error_code ignored;
    return std::filesystem::exists(folder.running(), ignored) && !std::filesystem::exists(folder.status(), ignored);
}

} // namespace

std::optional<UnitJobs::Known> UnitJobs::read_attempt(const std::filesystem::path& folder)
{
    const AttemptFolder attempt(folder);
    const Result<std::string> text = read_file(attempt.order(), kMaxOrderBytes);
    const Result<SupervisorOrder> order = text ? decode_supervisor_order(*text) : Result<SupervisorOrder>(text.error());
    if (!order) return std::nullopt;
    Known known;
    known.job.attempt = order->run.order.attempt_id;
    known.job.work = attempt.work();
    known.job.uid = order->user ? order->user->uid : ::geteuid();
    const Result<PrecisionRange> range = parse_precision_range(variable_of(order->run, "FATHOM_PRECISION_RANGE"));
    if (range) known.job.precision = *range;
    known.cpus = {order->run.cpus.begin(), order->run.cpus.end()};
    known.devices = split_devices(variable_of(order->run, "FATHOM_DEVICES"));
    return known;
}

void UnitJobs::refresh()
{
    std::error_code error;
    std::set<std::string> present;
    for (std::filesystem::directory_iterator entry(attempts_, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        present.insert(name);
        const bool runs = is_running(AttemptFolder(entry->path()));
        auto found = known_.find(name);
        if (found == known_.end()) {
            if (!runs) continue; // its order may not be complete yet
            found = known_.emplace(name, read_attempt(entry->path())).first;
        }
        if (found->second) found->second->is_running = runs;
    }
    std::erase_if(known_, [&](const auto& entry) { return !present.contains(entry.first); });
}

std::vector<UnitJob> UnitJobs::on(const BalancedUnit& unit) const
{
    std::vector<UnitJob> jobs;
    for (const auto& entry : known_) {
        const std::optional<Known>& known = entry.second;
        if (!known || !known->is_running) continue;
        const bool has_device = std::any_of(known->devices.begin(), known->devices.end(), [&](const std::string& one) {
            return !unit.device.empty() && devices_overlap(one, unit.device);
        });
        const bool has_cpu =
            unit.device.empty() && std::any_of(unit.cpus.begin(), unit.cpus.end(),
                                               [&](std::int64_t cpu) { return known->cpus.contains(cpu); });
        if (has_device || has_cpu) jobs.push_back(known->job);
    }
    return jobs;
}

} // namespace fathom::agent
