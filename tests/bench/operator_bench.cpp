/// How much of a library's speed a probe operator delivers: each operator through the runner's path
/// and the library called bare, in turn, at the default size, on one core.
#include "probes/runner/sampled_operator.hpp"
#include "tests/bench/bare_operators.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sched.h>

namespace fathom::bench {
namespace {

struct Options {
    int rounds = 15;
    double sample_s = 0.1;
    std::vector<std::string> only;
};

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The scheduler moving the thread between cores would be noise of its own.
void stay_on_one_core()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) std::perror("sched_setaffinity");
}

/// Seconds per call of the bare library.
double bare_sample(BareOperator& bare, long times)
{
    bare.loop(1); // as warm as ours, which does the same
    const auto start = std::chrono::steady_clock::now();
    bare.loop(times);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(times);
}

/// Speed of ours / speed of bare: the median over the rounds, for neighbours in time see the same machine.
Result<double> compare(const probes::RegisteredOperator& registered, const Options& options)
{
    const OperatorManifest& manifest = registered.manifest;
    probes::SampledOperator ours(registered, {.id = manifest.id, .parameters = manifest.default_parameters()}, 1);
    const Result<void> started = ours.start(1, {.min_sample_s = options.sample_s, .warm_up_each = true});
    if (!started) return started.error();
    const std::unique_ptr<BareOperator> bare = make_bare_operator(manifest.id);
    const long times = std::max(1L, static_cast<long>(options.sample_s / bare_sample(*bare, 1)));

    std::vector<double> ours_s;
    std::vector<double> bare_s;
    std::vector<double> ratios;
    for (int round = 0; round < options.rounds; ++round) {
        const bool ours_first = round % 2 == 0; // neither always profits from what the other left behind
        if (ours_first) ours_s.push_back(ours.sample());
        bare_s.push_back(bare_sample(*bare, times));
        if (!ours_first) ours_s.push_back(ours.sample());
        ratios.push_back(bare_s.back() / ours_s.back());
    }
    const OperatorResult result = ours.result();
    fmt::print("{:<13} ours {:9.4f} ms  bare {:9.4f} ms  {:7.2f} GFLOP/s  {:6.2f} GB/s  error {:.1e}  {}\n",
               manifest.id, median(ours_s) * 1e3, median(bare_s) * 1e3, result.operations / median(ours_s) * 1e-9,
               result.bytes / median(ours_s) * 1e-9, result.error, result.library);
    std::fflush(stdout);
    return median(ratios);
}

int run(const Options& options)
{
    stay_on_one_core();
    probes::limit_library_threads(1);
    fmt::print("One core, {} rounds, samples of at least {} s, ours and bare in turn.\n", options.rounds,
               options.sample_s);
    std::string results;
    for (const probes::RegisteredOperator& registered : probes::registered_operators()) {
        const std::string& id = registered.manifest.id;
        if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), id) == options.only.end())
            continue;
        const Result<double> ratio = compare(registered, options);
        if (!ratio) {
            fmt::print(stderr, "operator_bench: {}\n", ratio.error().detail);
            return 1;
        }
        results += fmt::format("RESULT {}_ratio {:.3f} ratio\n", id, *ratio);
    }
    fmt::print("Speed of ours / speed of the bare library, median over the rounds:\n{}", results);
    return 0;
}

} // namespace
} // namespace fathom::bench

int main(int argc, char** argv)
{
    fathom::bench::Options options;
    CLI::App app{"Compares each probe operator, run as fathom-probe runs it, with the bare library.", "operator_bench"};
    app.add_option("--rounds", options.rounds, "Pairs of samples per operator")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--sample-s", options.sample_s, "Least seconds of a sample")
        ->check(CLI::Range(0.001, 10.0))
        ->capture_default_str();
    app.add_option("--operator", options.only, "Only this operator; may be repeated");
    CLI11_PARSE(app, argc, argv);
    return fathom::bench::run(options);
}
