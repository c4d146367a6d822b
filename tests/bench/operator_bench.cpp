/// How much of a library's speed a probe operator delivers: each operator through the runner's path
/// and the library called bare, in turn, at the default size, on one core; then beside benchmark programs.
#include "probes/runner/sampled_operator.hpp"
#include "tests/bench/bare_operators.hpp"
#include "tests/bench/peer_programs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sched.h>

namespace fathom::bench {
namespace {

struct Options {
    int rounds = 5;
    double sample_s = 0.1;
    int peer_rounds = 3; ///< 0: no benchmark programs
    bool bare_alone = false;
    std::vector<std::string> only;
};

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The first cores that this process may use, and only they: the scheduler moving the thread between cores would
/// be noise of its own.
class Cores {
  public:
    Cores()
    {
        if (sched_getaffinity(0, sizeof(all_), &all_) != 0) std::perror("sched_getaffinity");
    }

    int count() const { return CPU_COUNT(&all_); }

    void use(int cores) const
    {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&set) < cores; ++core) {
            if (CPU_ISSET(core, &all_)) CPU_SET(core, &set);
        }
        if (sched_setaffinity(0, sizeof(set), &set) != 0) std::perror("sched_setaffinity");
        probes::limit_library_threads(cores);
    }

  private:
    cpu_set_t all_{};
};

/// Seconds per call of the bare library.
double bare_sample(BareOperator& bare, long times)
{
    bare.loop(1); // as warm as ours, which does the same
    const auto start = std::chrono::steady_clock::now();
    bare.loop(times);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(times);
}

/// Which pages an array gets, and which plan FFTW finds, makes more of a difference than our code: so both are made
/// anew a few times, and each comes first as often as the other, for who comes first gets what pages are left.
constexpr int kInstances = 4;

/// Ours and the bare library, seconds of one execution.
struct Pair {
    double ours_s{};
    double bare_s{};
};

enum class First { kOurs, kBare };

/// One instance of each, in turn: the median over the rounds. Leaves the result of ours in `result`.
Result<Pair> compare_instance(const probes::RegisteredOperator& registered, const LibraryPeer& peer,
                              const Options& options, First first, std::optional<OperatorResult>& result)
{
    const OperatorManifest& manifest = registered.manifest;
    std::unique_ptr<BareOperator> bare = first == First::kBare ? peer.make() : nullptr;
    probes::SampledOperator ours(registered, {.id = manifest.id, .parameters = manifest.default_parameters()}, 1);
    const Result<void> started = ours.start(1, {.min_sample_s = options.sample_s, .warm_up_each = true});
    if (!started) return started.error();
    if (first == First::kOurs) bare = peer.make();
    if (bare == nullptr) return Error{Errc::kNotFound, "there is no bare counterpart of " + manifest.id};
    const long times = std::max(1L, static_cast<long>(options.sample_s / bare_sample(*bare, 1)));
    std::vector<double> ours_s;
    std::vector<double> bare_s;
    for (int round = 0; round < options.rounds; ++round) {
        const bool ours_first = round % 2 == 0; // neither always profits from what the other left behind
        if (ours_first) ours_s.push_back(ours.sample().value());
        bare_s.push_back(bare_sample(*bare, times));
        if (!ours_first) ours_s.push_back(ours.sample().value());
    }
    result = ours.result().value();
    return Pair{median(ours_s), median(bare_s)};
}

/// Speed of ours / speed of the other, over all instances.
Result<double> compare(const probes::RegisteredOperator& registered, const LibraryPeer& peer, const Options& options)
{
    Pair mean;
    std::optional<OperatorResult> result;
    for (int instance = 0; instance < kInstances; ++instance) {
        const Result<Pair> pair =
            compare_instance(registered, peer, options, instance % 2 == 0 ? First::kOurs : First::kBare, result);
        if (!pair) return pair.error();
        mean.ours_s += pair->ours_s / kInstances;
        mean.bare_s += pair->bare_s / kInstances;
    }
    fmt::print("{:<19} ours {:9.4f} ms  {} {:9.4f} ms  {:7.2f} GFLOP/s  {:6.2f} GB/s  error {:.1e}  {}\n", result->id,
               mean.ours_s * 1e3, peer.name, mean.bare_s * 1e3, result->operations / mean.ours_s * 1e-9,
               result->bytes / mean.ours_s * 1e-9, result->error, result->library);
    std::fflush(stdout);
    return mean.bare_s / mean.ours_s;
}

/// Ours at the size that a benchmark program chose: an operator, or a loop that only this benchmark has.
struct Contest {
    std::optional<probes::SampledOperator> ours{};
    std::unique_ptr<BareOperator> loop{}; ///< if there is one, instead
    int best_of{1};
    std::vector<double> ours_s{};
    std::vector<double> peer_s{};
    std::vector<double> ratios{};

    /// Seconds of one execution, as the program counts: a mean, or the best of some.
    double sample()
    {
        double best_s = sample_once();
        for (int i = 1; i < best_of; ++i)
            best_s = std::min(best_s, sample_once());
        return best_s;
    }

    double sample_once() { return loop ? bare_sample(*loop, 1) : ours->sample().value(); }
    std::string name() const { return loop ? "own loop of the benchmark" : ours->name(); }
};

Result<Contest> start_contest(const PeerProgram& peer, const PeerFigure& figure, const Options& options)
{
    Contest contest;
    contest.best_of = figure.best_of;
    if (figure.make_loop) {
        contest.loop = figure.make_loop();
        return contest;
    }
    const OperatorUse use{.id = figure.operator_id, .parameters = figure.parameters};
    contest.ours.emplace(*probes::find_operator(use.id), use, peer.cores);
    const double least_s = figure.best_of > 1 ? 0 : options.sample_s; // the best of single executions
    const Result<void> started = contest.ours->start(1, {.min_sample_s = least_s, .warm_up_each = true});
    if (!started) return started.error();
    return contest;
}

Result<std::vector<Contest>> start_contests(const PeerProgram& peer, const Options& options)
{
    const Result<std::vector<PeerFigure>> sizes = peer.run();
    if (!sizes) return sizes.error();
    std::vector<Contest> contests;
    for (const PeerFigure& figure : *sizes) {
        Result<Contest> contest = start_contest(peer, figure, options);
        if (!contest) return contest.error();
        contests.push_back(std::move(*contest));
    }
    return contests;
}

/// Ours and the program's in turn. Lines for the end of the output.
Result<std::string> compare_with(const PeerProgram& peer, const Options& options)
{
    Result<std::vector<Contest>> started = start_contests(peer, options);
    if (!started) return started.error();
    std::vector<Contest>& contests = *started;
    std::vector<std::string> ids;
    for (int round = 0; round < options.peer_rounds; ++round) {
        std::vector<double> before_s;
        for (Contest& contest : contests)
            before_s.push_back(contest.sample());
        const Result<std::vector<PeerFigure>> figures = peer.run();
        if (!figures) return figures.error();
        ids.clear();
        for (std::size_t i = 0; i < contests.size(); ++i) {
            ids.push_back(figures->at(i).operator_id);
            contests[i].peer_s.push_back(figures->at(i).seconds);
            contests[i].ours_s.push_back((before_s[i] + contests[i].sample()) / 2);
            contests[i].ratios.push_back(contests[i].peer_s.back() / contests[i].ours_s.back());
        }
    }
    std::string results;
    for (std::size_t i = 0; i < contests.size(); ++i) {
        const std::string& id = ids[i];
        fmt::print("{:<19} ours {:9.4f} ms  {} {:9.4f} ms  {}\n", id, median(contests[i].ours_s) * 1e3, peer.name,
                   median(contests[i].peer_s) * 1e3, contests[i].name());
        results += fmt::format("RESULT ratio_{}_{} {:.3f} ratio\n", id, peer.name, median(contests[i].ratios));
    }
    std::fflush(stdout);
    return results;
}

bool is_wanted(const Options& options, const std::string& id)
{
    return options.only.empty() || std::find(options.only.begin(), options.only.end(), id) != options.only.end();
}

/// Beside the bare library. Lines for the end of the output.
Result<std::string> compare_with_libraries(const Options& options)
{
    std::string results;
    for (const probes::RegisteredOperator& registered : probes::registered_operators()) {
        const std::string& id = registered.manifest.id;
        if (!is_wanted(options, id)) continue;
        if (const Result<void> available = registered.available(); !available) {
            fmt::print("{:<19} cannot run here: {}\n", id, available.error().detail);
            continue;
        }
        // Between processes: beside MPI's below. Those of MPI are MPI's calls, and that of TCP has no library.
        if (id == "reduction" || is_exchange_operator(id)) continue;
        const Result<double> ratio = compare(registered, {"bare", [&id] { return make_bare_operator(id); }}, options);
        if (!ratio) return ratio.error();
        results += fmt::format("RESULT ratio_{} {:.3f} ratio\n", id, *ratio);
        for (const LibraryPeer& peer : library_peers(id)) {
            const Result<double> beside_peer = compare(registered, peer, options);
            if (!beside_peer) return beside_peer.error();
            results += fmt::format("RESULT ratio_{}_{} {:.3f} ratio\n", id, peer.name, *beside_peer);
        }
    }
    return results;
}

/// The libraries by themselves, one instance each: how steady the machine is without anything of ours.
int time_bare(const Options& options)
{
    for (const probes::RegisteredOperator& registered : probes::registered_operators()) {
        const std::string& id = registered.manifest.id;
        const std::unique_ptr<BareOperator> bare = is_wanted(options, id) ? make_bare_operator(id) : nullptr;
        if (bare == nullptr) continue;
        const long times = std::max(1L, static_cast<long>(options.sample_s / bare_sample(*bare, 1)));
        std::vector<double> samples_s;
        for (int round = 0; round < options.rounds; ++round)
            samples_s.push_back(bare_sample(*bare, times));
        fmt::print("{} {:.9f}\n", id, median(samples_s));
    }
    return 0;
}

int run(const Options& options)
{
    const Cores cores;
    cores.use(1);
    if (options.bare_alone) return time_bare(options);
    fmt::print("One core, {} times {} rounds, samples of at least {} s, ours and the bare library in turn.\n",
               kInstances, options.rounds, options.sample_s);
    const Result<std::string> beside_libraries = compare_with_libraries(options);
    if (!beside_libraries) {
        fmt::print(stderr, "operator_bench: {}\n", beside_libraries.error().detail);
        return 1;
    }
    std::string results = *beside_libraries;
    if (options.peer_rounds > 0 && options.only.empty()) {
        fmt::print("Beside benchmark programs at the sizes that they choose, {} rounds in turn.\n",
                   options.peer_rounds);
        for (const PeerProgram& peer : peer_programs(FATHOM_BARE_ALLREDUCE)) {
            if (peer.cores > cores.count()) continue;
            cores.use(peer.cores);
            const Result<std::string> beside = compare_with(peer, options);
            if (beside)
                results += *beside;
            else
                fmt::print("{}: not compared: {}\n", peer.name, beside.error().detail);
        }
    }
    fmt::print("Speed of ours / speed of the other:\n{}", results);
    return 0;
}

} // namespace
} // namespace fathom::bench

int main(int argc, char** argv)
{
    fathom::bench::Options options;
    CLI::App app{"Compares each probe operator, run as fathom-probe runs it, with the bare library.", "operator_bench"};
    app.add_option("--rounds", options.rounds, "Pairs of samples of each of four instances")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--sample-s", options.sample_s, "Least seconds of a sample")
        ->check(CLI::Range(0.001, 10.0))
        ->capture_default_str();
    app.add_option("--peer-rounds", options.peer_rounds, "Runs of each benchmark program; 0: none")
        ->check(CLI::Range(0, 100))
        ->capture_default_str();
    app.add_option("--operator", options.only, "Only this operator, beside its library only; may be repeated");
    app.add_flag("--bare", options.bare_alone,
                 "Only the bare libraries, one instance each: prints operator and median seconds of a call");
    CLI11_PARSE(app, argc, argv);
    return fathom::bench::run(options);
}
