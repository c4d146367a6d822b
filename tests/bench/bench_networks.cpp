#include "tests/bench/bench_networks.hpp"

#include "simulator/workloads/csv_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::simulation {
namespace {

constexpr std::array<double, 3> kPeakFlops{4.37e12, 10.6e12, 15.7e12};
constexpr std::string_view kBenchmarkType = "ResNet-50 64";
constexpr std::size_t kP100 = 1;

struct CenterOfMachines {
    std::string_view machine;
    std::int64_t processors{};
};
constexpr std::array<CenterOfMachines, 5> kCenters{
    {{"Skylake", 338}, {"KNL", 128}, {"Ampere", 256}, {"NEC Aurora", 64}, {"P100", 64}}};

const GavelJobType* find_type(std::span<const GavelJobType> job_types, std::string_view name)
{
    const auto found =
        std::find_if(job_types.begin(), job_types.end(), [&](const GavelJobType& type) { return type.name == name; });
    return found == job_types.end() ? nullptr : &*found;
}

UnitType& add_center(std::string_view name, std::int64_t unit_count, CentersFile& file)
{
    Network& network = file.network;
    network.centers.emplace_back().name = name;
    UnitType& type = network.unit_types.emplace_back();
    type.name = name;
    type.center = network.centers.size() - 1;
    type.unit_count = unit_count;
    file.other_rates.emplace_back();
    return type;
}

/// The centers, without any rates yet.
CentersFile gpu_centers(std::span<const GavelJobType> job_types, const GpuCounts& gpus)
{
    CentersFile file;
    const GavelJobType* benchmark = find_type(job_types, kBenchmarkType);
    for (std::size_t gpu = 0; gpu < kGavelGpus.size(); ++gpu) {
        UnitType& type = add_center(kGavelGpus[gpu], gpus[gpu], file);
        type.peak_flops = kPeakFlops[gpu];
        if (benchmark != nullptr) type.benchmark = benchmark->steps_per_s[gpu].at(1);
    }
    return file;
}

void set_job_types(std::vector<JobType> job_types, CentersFile& file)
{
    file.tells_scaling.assign(job_types.size(), true);
    file.network.job_types = std::move(job_types);
}

/// A speed: what a benchmark's figure says of it.
double speed_of(std::string_view benchmark, double value)
{
    return benchmark == "babelstream" ? value : 1 / value; // MB/s; the others are seconds
}

} // namespace

CentersFile gpu_network(std::span<const GavelJobType> job_types, const GpuCounts& gpus)
{
    CentersFile file = gpu_centers(job_types, gpus);
    set_job_types(to_job_types(job_types), file);
    const std::vector<MeasuredUnitType> measured = to_unit_types(job_types);
    for (std::size_t gpu = 0; gpu < measured.size(); ++gpu)
        file.network.unit_types[gpu].rates = measured[gpu].rates;
    return file;
}

Result<CentersFile> gpu_network_like(std::span<const GavelJobType> job_types, const GpuCounts& gpus,
                                     const std::vector<std::pair<std::string, std::string>>& names_and_like)
{
    CentersFile file = gpu_centers(job_types, gpus);
    std::vector<JobType> types;
    for (const auto& [name, like] : names_and_like) {
        const GavelJobType* measured = find_type(job_types, like);
        if (measured == nullptr) return Error{Errc::kNotFound, fmt::format("{} was not measured", like)};
        types.push_back({name, Scaling::kFixed});
        for (std::size_t gpu = 0; gpu < kGavelGpus.size(); ++gpu) {
            const double rate = measured->steps_per_s[gpu].at(1) / measured->steps_per_s[kP100].at(1);
            file.network.unit_types[gpu].rates.push_back({rate, {}});
        }
    }
    set_job_types(std::move(types), file);
    return file;
}

Result<MachineSpeeds> read_machine_speeds(std::istream& devices, std::istream& specifications)
{
    Result<CsvLines> measured = CsvLines::open(devices, {"benchmark", "device", "value"});
    if (!measured) return measured.error();
    const std::map<std::string, ProgramKind, std::less<>> kinds{
        {"babelstream", kStream}, {"cloverleaf", kCloverLeaf}, {"tealeaf", kTeaLeaf}};
    MachineSpeeds speeds;
    while (measured->next()) {
        const auto kind = kinds.find(measured->text(0));
        const std::optional<double> value = measured->number(2);
        if (!value) return Error{Errc::kInvalid, fmt::format("line {}: expected a result", measured->line())};
        if (kind == kinds.end() || *value <= 0) continue;
        double& speed = speeds[std::string(measured->text(1))][kind->second];
        speed = std::max(speed, speed_of(kind->first, *value));
    }
    Result<CsvLines> peaks = CsvLines::open(specifications, {"device", "dp_tflops"});
    if (!peaks) return peaks.error();
    while (peaks->next()) {
        const std::optional<double> peak = peaks->number(1);
        if (!peak) return Error{Errc::kInvalid, fmt::format("line {}: expected a peak", peaks->line())};
        speeds[std::string(peaks->text(0))][kDense] = *peak;
    }
    std::erase_if(speeds, [](const auto& machine) {
        return std::any_of(machine.second.begin(), machine.second.end(), [](double speed) { return speed <= 0; });
    });
    return speeds;
}

Result<CentersFile> unlike_centers(const MachineSpeeds& speeds)
{
    CentersFile file;
    std::vector<JobType> kinds;
    for (std::size_t kind = 0; kind < kProgramKinds; ++kind)
        kinds.push_back({fmt::format("program_{}", kind + 1), Scaling::kFixed});
    set_job_types(std::move(kinds), file);
    for (const CenterOfMachines& center : kCenters) {
        const auto machine = speeds.find(std::string(center.machine));
        const auto reference = speeds.find(std::string(kCenters.front().machine));
        if (machine == speeds.end() || reference == speeds.end())
            return Error{Errc::kInvalid, fmt::format("machine {} was not measured", center.machine)};
        UnitType& type = add_center(center.machine, center.processors, file);
        for (std::size_t kind = 0; kind < kProgramKinds; ++kind)
            type.rates.push_back({machine->second[kind] / reference->second[kind], {}});
        type.peak_flops = machine->second[kDense] * 1e12;
        type.benchmark = machine->second[kStream];
    }
    return file;
}

} // namespace fathom::simulation
