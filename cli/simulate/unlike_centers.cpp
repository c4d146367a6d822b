#include "cli/simulate/unlike_centers.hpp"

#include "cli/simulate/csv_table.hpp"
#include "cli/simulate/world_load.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {
namespace {

const std::array<CenterOfMachines, 5> kCenters{
    {{"Skylake", 338}, {"KNL", 128}, {"Ampere", 256}, {"NEC Aurora", 64}, {"P100", 64}}};

/// A speed: what a benchmark's figure says of it.
double speed_of(std::string_view benchmark, double value)
{
    return benchmark == "babelstream" ? value : 1 / value; // MB/s; the others are seconds
}

/// Kinds are spread over programs by their number; the multiplier keeps neighbours apart.
ProgramKind kind_of(const LoggedJob& job)
{
    const auto mixed = static_cast<std::uint64_t>(job.program) * 0x9E3779B97F4A7C15ULL;
    return static_cast<ProgramKind>(mixed >> 62);
}

} // namespace

Result<MachineSpeeds> read_machine_speeds(std::istream& devices, std::istream& specifications)
{
    const Result<CsvTable> measured = CsvTable::read(devices, {"benchmark", "device", "value"});
    if (!measured) return measured.error();
    const std::map<std::string, ProgramKind, std::less<>> kinds{{"babelstream", ProgramKind::kStream},
                                                                {"cloverleaf", ProgramKind::kCloverLeaf},
                                                                {"tealeaf", ProgramKind::kTeaLeaf}};
    MachineSpeeds speeds;
    for (std::size_t row = 0; row < measured->size(); ++row) {
        const auto kind = kinds.find(measured->text(row, 0));
        const Result<double> value = measured->number(row, 2);
        if (!value) return value.error();
        if (kind == kinds.end() || *value <= 0) continue;
        double& speed = speeds[measured->text(row, 1)][static_cast<std::size_t>(kind->second)];
        speed = std::max(speed, speed_of(kind->first, *value));
    }
    const Result<CsvTable> peaks = CsvTable::read(specifications, {"device", "dp_tflops"});
    if (!peaks) return peaks.error();
    for (std::size_t row = 0; row < peaks->size(); ++row) {
        const Result<double> peak = peaks->number(row, 1);
        if (!peak) return peak.error();
        speeds[peaks->text(row, 0)][static_cast<std::size_t>(ProgramKind::kDense)] = *peak;
    }
    std::erase_if(speeds, [](const auto& machine) {
        return std::any_of(machine.second.begin(), machine.second.end(), [](double speed) { return speed <= 0; });
    });
    return speeds;
}

Result<SimulatedWorld> log_on_unlike_centers(const JobLog& log, const MachineSpeeds& speeds, const LogPart& part)
{
    SimulatedWorld world;
    world.name = "log on unlike centers";
    for (const CenterOfMachines& center : kCenters) {
        if (!speeds.contains(center.machine))
            return Error{Errc::kInvalid, fmt::format("machine {} was not measured", center.machine)};
        world.unit_types.push_back({center.machine, center.processors});
    }
    const auto& reference = speeds.at(kCenters.front().machine);
    for (const LoggedJob& logged : std::span(log.jobs).subspan(std::min(part.first_job, log.jobs.size()))) {
        if (world.jobs.size() == part.most_jobs) break;
        SimulatedJob job;
        job.arrival_s = logged.submit_s;
        const auto kind = static_cast<std::size_t>(kind_of(logged));
        for (std::size_t center = 0; center < kCenters.size(); ++center) {
            if (logged.processors > kCenters[center].processors) continue;
            const double run_s = logged.run_s * reference[kind] / speeds.at(kCenters[center].machine)[kind];
            job.options.push_back({center, logged.processors, run_s, run_s});
        }
        if (!job.options.empty()) world.jobs.push_back(std::move(job));
    }
    if (world.jobs.size() < 5) return Error{Errc::kInvalid, "the log has too few jobs that fit"};
    const double stretch = load_of(world) / part.load;
    const double begin_s = world.jobs.front().arrival_s;
    for (SimulatedJob& job : world.jobs)
        job.arrival_s = (job.arrival_s - begin_s) * stretch;
    world.first_counted = world.jobs.size() / 5;
    world.end_counted = world.jobs.size() * 4 / 5;
    return world;
}

} // namespace fathom
