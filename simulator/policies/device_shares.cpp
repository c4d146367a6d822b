#include "simulator/policies/device_shares.hpp"

namespace fathom::simulation {

void DeviceShares::look(const PolicyView& view)
{
    const std::uint64_t version = view.devices == nullptr ? 0 : view.devices->version();
    const bool is_same = reports_ == view.devices && now_s_ == view.now_s && version_ == version;
    if (is_same) return;
    reports_ = view.devices;
    scenario_ = view.scenario;
    now_s_ = view.now_s;
    version_ = version;
    gpus_.clear();
    known_.clear();
}

double DeviceShares::beside_s(std::uint32_t job_type, std::size_t unit_type, double alone_s)
{
    if (reports_ == nullptr || scenario_->network.unit_types[unit_type].units_per_device < 2) return alone_s;
    const std::optional<ExpectedGpuShare>& expected = find(job_type, unit_type);
    return expected ? beside_on_gpu_s(alone_s, expected->share, expected->until_s) : alone_s;
}

const std::optional<ExpectedGpuShare>& DeviceShares::find(std::uint32_t job_type, std::size_t unit_type)
{
    const auto [entry, is_new] = known_.try_emplace({job_type, unit_type});
    if (!is_new) return entry->second;
    const auto [gpus, is_first] = gpus_.try_emplace(unit_type);
    if (is_first) gpus->second = reports_->devices(unit_type, now_s_);
    entry->second =
        expect_gpu_share(scenario_->network.job_types[job_type].name, gpus->second, reports_->pairs(unit_type));
    return entry->second;
}

} // namespace fathom::simulation
