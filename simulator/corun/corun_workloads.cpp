#include "simulator/corun/corun_workloads.hpp"

#include "core/base/portable_math.hpp"
#include "simulator/workloads/csv_lines.hpp"
#include "simulator/world/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace fathom::simulation {
namespace {

constexpr double kMeanMinutes = 100;
constexpr double kMinute_s = 60;
/// 10^u averaged over the drawing: Σ weight · (10^b − 10^a) / ((b − a) · ln 10).
constexpr double kHeavyTailedMean_s = 60 * (0.8 * (1000 - 31.6227766) / (1.5 * 2.302585093) + 0.2 * 9000 / 2.302585093);

double draw_length_s(Draw& draw, CorunLengths lengths)
{
    if (lengths == CorunLengths::kExponential) return draw.exponential(kMinute_s * kMeanMinutes);
    const double u = draw.uniform();
    return kMinute_s * portable::pow(10, u < 0.8 ? draw.uniform(1.5, 3) : draw.uniform(3, 4));
}

/// What a kind needs of the GPU when it is alone, 0 … 1.
struct Need {
    double arithmetic{};
    double bandwidth{};
};

double share_of(const Need& one, const Need& other)
{
    const double most = std::max({1.0, one.arithmetic + other.arithmetic, one.bandwidth + other.bandwidth});
    return 1 / most;
}

} // namespace

CorunWorkload draw_corun_jobs(const CorunWorld& world, const CorunDrawing& drawing)
{
    CorunWorkload workload;
    for (std::uint32_t kind = 0; kind < world.kinds.size(); ++kind)
        workload.programs.push_back({{kind, 1}});
    Draw draw(drawing.seed);
    Draw priorities(drawing.seed + 0x9e3779b97f4a7c15U);
    const double mean_s = drawing.lengths == CorunLengths::kExponential ? kMinute_s * kMeanMinutes : kHeavyTailedMean_s;
    double now_s = 0;
    for (std::size_t i = 0; i < drawing.jobs; ++i) {
        CorunJob& job = workload.jobs.emplace_back();
        now_s += draw.exponential(mean_s / drawing.load);
        job.arrival_s = now_s;
        job.program = static_cast<std::uint32_t>(draw.index(world.kinds.size()));
        job.scale = std::max(1.0, draw_length_s(draw, drawing.lengths));
        job.expected_scale = job.scale * portable::exp(drawing.size_error * draw.normal());
        job.is_high_priority = priorities.uniform() < drawing.high_priority_share;
    }
    return workload;
}

CorunWorkload only_high_priority(const CorunWorkload& workload)
{
    CorunWorkload only{workload.programs, {}};
    std::copy_if(workload.jobs.begin(), workload.jobs.end(), std::back_inserter(only.jobs),
                 [](const CorunJob& job) { return job.is_high_priority; });
    return only;
}

CorunWorld draw_corun_world(std::size_t kinds, std::uint64_t seed)
{
    Draw draw(seed);
    CorunWorld world;
    world.name = fmt::format("synthetic {}", seed);
    world.shares = CorunShares(kinds);
    world.preempt_s = 30;
    world.observe_s = 60;
    world.measurement_noise = 0.02;
    constexpr std::array kClasses{KernelClass::kCompute, KernelClass::kMemory, KernelClass::kUnknown};
    std::vector<Need> needs;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        const KernelClass kernel_class = kClasses[kind % kClasses.size()];
        world.kinds.push_back({fmt::format("kind {}", kind), kernel_class});
        Need& need = needs.emplace_back(Need{draw.uniform(0.2, 1), draw.uniform(0.2, 1)});
        // What it is bound by, it needs most of.
        if (kernel_class == KernelClass::kCompute) need.arithmetic = std::max(need.arithmetic, 0.9);
        if (kernel_class == KernelClass::kMemory) need.bandwidth = std::max(need.bandwidth, 0.9);
    }
    for (std::size_t a = 0; a < kinds; ++a) {
        for (std::size_t b = a; b < kinds; ++b) {
            const bool fits = draw.uniform() >= 0.03;
            const double share = share_of(needs[a], needs[b]);
            const double lean = a == b ? 1 : portable::exp(0.15 * draw.normal());
            const double chance = portable::exp(0.05 * draw.normal());
            world.shares.set(a, b, fits ? std::min(1.0, share * lean * chance) : 0);
            world.shares.set(b, a, fits ? std::min(1.0, share / lean * chance) : 0);
        }
    }
    return world;
}

Result<CorunWorld> read_gavel_pairs(std::istream& input, std::string_view gpu)
{
    enum Column : std::size_t { kGpu, kJobA, kJobB, kSoloA, kSoloB, kColocA, kColocB };
    Result<CsvLines> lines = CsvLines::open(input, {"gpu", "job_a", "job_b", "solo_a", "solo_b", "coloc_a", "coloc_b"});
    if (!lines) return lines.error();
    CorunWorld world;
    world.name = fmt::format("gavel {}", gpu);
    world.preempt_s = 30;
    world.observe_s = 60;
    world.measurement_noise = 0.02;
    std::map<std::string, std::size_t, std::less<>> kinds;
    struct Pair {
        std::size_t a, b;
        double a_share, b_share;
    };
    std::vector<Pair> pairs;
    const auto kind_of = [&](std::string_view name) {
        const auto [at, is_new] = kinds.emplace(std::string(name), kinds.size());
        if (is_new) world.kinds.push_back({std::string(name), KernelClass::kUnknown});
        return at->second;
    };
    while (lines->next()) {
        const std::array values{lines->number(kSoloA), lines->number(kSoloB), lines->number(kColocA),
                                lines->number(kColocB)};
        const bool is_valid = lines->excess() == 0 && std::all_of(values.begin(), values.end(), [](const auto& value) {
                                  return value && *value >= 0;
                              });
        if (!is_valid) return Error{Errc::kInvalid, fmt::format("line {}: expected a measured pair", lines->line())};
        if (lines->text(kGpu) != gpu || *values[0] <= 0 || *values[1] <= 0) continue;
        const bool fits = *values[2] > 0 && *values[3] > 0;
        pairs.push_back({kind_of(lines->text(kJobA)), kind_of(lines->text(kJobB)), fits ? *values[2] / *values[0] : 0,
                         fits ? *values[3] / *values[1] : 0});
    }
    if (pairs.empty()) return Error{Errc::kInvalid, fmt::format("the file holds no pair on {}", gpu)};
    world.shares = CorunShares(world.kinds.size());
    for (const Pair& pair : pairs) {
        world.shares.set(pair.a, pair.b, pair.a_share);
        world.shares.set(pair.b, pair.a, pair.b_share);
    }
    return world;
}

namespace {

constexpr double kMultiprocessors = 80;                      ///< of the V100 that Orion's kernels were profiled on
constexpr std::array<double, 4> kSizes{0.125, 0.25, 0.5, 1}; ///< up to this part of the multiprocessors
constexpr std::array kKernelKinds{KernelClass::kCompute, KernelClass::kMemory, KernelClass::kUnknown};
constexpr std::array<const char*, 4> kSizeNames{"an eighth", "a quarter", "a half", "all"};

std::uint32_t kernel_kind(KernelClass kernel_class, double needed)
{
    const auto by_class = static_cast<std::size_t>(std::find(kKernelKinds.begin(), kKernelKinds.end(), kernel_class) -
                                                   kKernelKinds.begin());
    std::size_t size = 0;
    while (size + 1 < kSizes.size() && needed > kSizes[size])
        ++size;
    return static_cast<std::uint32_t>(by_class * kSizes.size() + size);
}

Need kernel_need(KernelClass kernel_class, double size)
{
    switch (kernel_class) {
    case KernelClass::kCompute:
        return {size, size / 3};
    case KernelClass::kMemory:
        return {size / 3, size};
    case KernelClass::kUnknown:
        return {2 * size / 3, 2 * size / 3};
    }
    return {size, size};
}

} // namespace

CorunWorld profiled_kernel_world()
{
    CorunWorld world;
    world.name = "orion kernels";
    world.can_interrupt = false;
    world.measurement_noise = 0.05;
    std::vector<Need> needs;
    for (const KernelClass kernel_class : kKernelKinds) {
        for (std::size_t size = 0; size < kSizes.size(); ++size) {
            world.kinds.push_back(
                {fmt::format("{}, {} of the GPU", to_string(kernel_class), kSizeNames[size]), kernel_class});
            needs.push_back(kernel_need(kernel_class, kSizes[size]));
        }
    }
    world.shares = CorunShares(needs.size());
    for (std::size_t a = 0; a < needs.size(); ++a) {
        for (std::size_t b = 0; b < needs.size(); ++b)
            world.shares.set(a, b, share_of(needs[a], needs[b]));
    }
    return world;
}

Result<std::vector<ProfiledProgram>> read_orion_programs(std::istream& input)
{
    enum Column : std::size_t { kModel, kBatch, kPhase, kSource, kProfileClass, kSmNeeded, kDuration };
    Result<CsvLines> lines =
        CsvLines::open(input, {"model", "batch", "phase", "source", "profile_class", "sm_needed", "duration_ns"});
    if (!lines) return lines.error();
    std::vector<ProfiledProgram> programs;
    while (lines->next()) {
        // Names of kernels in the others have commas, in quotes.
        if (lines->text(kSource) != "nominal") continue;
        const std::optional<double> batch = lines->number(kBatch);
        const std::optional<double> needed = lines->number(kSmNeeded);
        const std::optional<double> duration_ns = lines->number(kDuration);
        if (!batch || !needed || !duration_ns || !(*batch >= 1 && *batch <= 1e6) || !(*duration_ns > 0))
            return Error{Errc::kInvalid, fmt::format("line {}: expected a kernel", lines->line())};
        const auto same = [&](const ProfiledProgram& program) {
            return program.model == lines->text(kModel) && program.batch == static_cast<std::int64_t>(*batch) &&
                   program.phase == lines->text(kPhase);
        };
        if (programs.empty() || !same(programs.back()))
            programs.push_back({std::string(lines->text(kModel)),
                                static_cast<std::int64_t>(*batch),
                                std::string(lines->text(kPhase)),
                                {}});
        const std::string_view bound = lines->text(kProfileClass);
        const KernelClass kernel_class = bound == "1"   ? KernelClass::kCompute
                                         : bound == "0" ? KernelClass::kMemory
                                                        : KernelClass::kUnknown;
        const double size = std::clamp(*needed / kMultiprocessors, 0.0, 1.0);
        programs.back().stages.push_back({kernel_kind(kernel_class, size), *duration_ns * 1e-9});
    }
    if (programs.empty()) return Error{Errc::kInvalid, "the file holds no kernel"};
    return programs;
}

ProfiledProgram draw_profiled_program(std::size_t kernels, double mean_kernel_s, std::uint64_t seed)
{
    constexpr double kSpread = 1; // of the logarithm of durations
    Draw draw(seed);
    ProfiledProgram program{fmt::format("drawn {}", seed), 1, "", {}};
    for (std::size_t i = 0; i < kernels; ++i) {
        const KernelClass kernel_class = kKernelKinds[draw.index(kKernelKinds.size())];
        // Large kernels are common: the larger of two draws.
        const std::size_t size = std::max(draw.index(kSizes.size()), draw.index(kSizes.size()));
        const std::uint32_t kind = kernel_kind(kernel_class, kSizes[size]);
        program.stages.push_back(
            {kind, mean_kernel_s * portable::exp(kSpread * draw.normal() - kSpread * kSpread / 2)});
    }
    return program;
}

CorunWorkload draw_inference_beside_training(const ProfiledProgram& inference, const ProfiledProgram& training,
                                             double load, std::size_t requests, std::uint64_t seed)
{
    CorunWorkload workload;
    workload.programs = {inference.stages, training.stages};
    double request_s = 0;
    for (const CorunStage& stage : inference.stages)
        request_s += stage.solo_s;
    CorunJob step;
    step.program = 1;
    step.repeats = true;
    workload.jobs.push_back(step);
    Draw draw(seed);
    double now_s = 0;
    for (std::size_t i = 0; i < requests; ++i) {
        now_s += draw.exponential(request_s / load);
        CorunJob request;
        request.arrival_s = now_s;
        request.is_high_priority = true;
        workload.jobs.push_back(request);
    }
    return workload;
}

} // namespace fathom::simulation
