// What an agent's attempts cost it while very many jobs run: the attempt book, the spool and the local executor as
// `fathom-agent run` uses them, with real supervisors and jobs.

#include "agent/executor/local/local_executor.hpp"
#include "agent/jobs/attempt_book.hpp"
#include "agent/spool/spool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <poll.h>
#include <sys/resource.h>
#include <thread>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

// As the daemon does it.
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kChangePause{2};

/// Jobs of all units run on the first processor: a machine with as many as there are units is not at hand.
class OneProcessor final : public Executor {
  public:
    explicit OneProcessor(LocalExecutorOptions options) : local_(std::move(options)) {}

    Result<void> start(const RunOrder& run) override
    {
        RunOrder here = run;
        here.cpus = {0};
        return local_.start(here);
    }
    void prepare() override { local_.prepare(); }
    RunView look(const AttemptId& id) override { return local_.look(id); }
    void watch(const AttemptId& id) override { local_.watch(id); }
    void unwatch(const AttemptId& id) override { local_.unwatch(id); }
    ExecutorChanges changes() override { return local_.changes(); }
    int change_descriptor() const override { return local_.change_descriptor(); }
    std::vector<std::int64_t> given_cpus(const AttemptId&) override { return {}; }
    void cancel(const AttemptId& id) override { local_.cancel(id); }
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override
    {
        return local_.read_output(id, stream, offset, max_bytes);
    }
    void end_leftovers(const AttemptId& id) override { local_.end_leftovers(id); }
    std::vector<AttemptId> known() override { return local_.known(); }
    Result<void> remove(const AttemptId& id) override { return local_.remove(id); }
    Json facts() const override { return local_.facts(); }

  private:
    LocalExecutor local_;
};

UnitPlan plan_of(std::int64_t units)
{
    UnitType type;
    type.report.name = "core";
    type.report.cores_per_unit = 1;
    type.report.unit_count = units;
    for (std::int64_t i = 0; i < units; ++i)
        type.units.push_back(Unit{{i}});
    return {type};
}

AttemptOrder order_of(std::vector<std::string> command)
{
    AttemptOrder order;
    order.attempt_id = AttemptId::make();
    order.job_id = JobId::make();
    order.name = "wait";
    order.label = "job";
    order.unit_type = "core";
    order.unit_count = 1;
    order.command = std::move(command);
    order.wall_limit_s = 36000;
    return order;
}

double cpu_s()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_mib()
{
    std::ifstream file("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    file >> total >> resident;
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// The agent's main loop as far as attempts go.
class Center {
  public:
    Center(const std::filesystem::path& folder, const std::filesystem::path& programs, std::int64_t units)
        : spool_(Spool::open(folder / "spool.db").value()), executor_({.attempts = folder / "attempts",
                                                                       .supervisor = programs / "fathom-agent",
                                                                       .programs = programs,
                                                                       .user_ids = UserIds{200000, 265535}}),
          book_(spool_, executor_, clock_, plan_of(units), {})
    {
        book_.load().value();
    }

    void accept(const AttemptOrder& order) { book_.accept(order).value(); }
    void cancel(const AttemptId& id) { book_.cancel(id, "the end of the measurement"); }

    template <typename Condition>
    void work_until(const Condition& is_done)
    {
        while (!is_done()) {
            pollfd change{executor_.change_descriptor(), POLLIN, 0};
            const int ready = ::poll(&change, 1, static_cast<int>(kTick.count()));
            book_.advance(std::chrono::steady_clock::now());
            if (ready > 0) std::this_thread::sleep_for(kChangePause);
        }
    }
    void work_for(std::chrono::duration<double> time)
    {
        const auto end = std::chrono::steady_clock::now() + time;
        work_until([end] { return std::chrono::steady_clock::now() >= end; });
    }

    RunPhase phase_of(const AttemptId& id) { return executor_.look(id).phase; }
    bool runs(const AttemptId& id) { return executor_.look(id).started_at.has_value(); }

  private:
    const SystemClock clock_;
    Spool spool_;
    OneProcessor executor_;
    AttemptBook book_;
};

/// Milliseconds from an order to its known end, the median of some jobs that do nothing.
double job_ms(Center& center)
{
    std::vector<double> times;
    for (int i = 0; i < 31; ++i) {
        const AttemptOrder order = order_of({"true"});
        const auto began = std::chrono::steady_clock::now();
        center.accept(order);
        center.work_until([&] { return center.phase_of(order.attempt_id) == RunPhase::kEnded; });
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    }
    std::nth_element(times.begin(), times.begin() + 15, times.end());
    return times[15];
}

int measure(const std::filesystem::path& folder, const std::filesystem::path& programs, int jobs, double seconds)
{
    Center center(folder, programs, jobs + 1);
    const double alone_ms = job_ms(center);
    std::vector<AttemptId> attempts;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < jobs; ++i) {
        const AttemptOrder order = order_of({"sleep", "36000"});
        attempts.push_back(order.attempt_id);
        center.accept(order);
    }
    std::size_t known = 0;
    center.work_until([&] {
        while (known < attempts.size() && center.runs(attempts[known]))
            ++known;
        return known == attempts.size() || center.phase_of(attempts[known]) == RunPhase::kEnded;
    });
    if (known < attempts.size()) {
        std::cerr << fmt::format("attempts_bench: {} of {} jobs run, and the next did not start: is there room for 3 "
                                 "processes of each (kernel.pid_max, pids.max)?\n",
                                 known, jobs);
        return 1;
    }
    const double took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::cout << fmt::format("  {} jobs run, {:.0f} s after the first was ordered\n", jobs, took_s) << std::flush;
    center.work_for(5s);
    const double before = cpu_s();
    center.work_for(std::chrono::duration<double>(seconds));
    const double used = cpu_s() - before;
    const double beside_ms = job_ms(center);
    std::cout << fmt::format("RESULT jobs {} jobs\n", jobs)
              << fmt::format("RESULT started_per_s {:.1f} 1/s\n", jobs / took_s)
              << fmt::format("RESULT core_pct {:.2f} %\n", 100 * used / seconds)
              << fmt::format("RESULT resident_mib {:.1f} MiB\n", resident_mib())
              << fmt::format("RESULT order_to_end_ms_idle {:.1f} ms\n", alone_ms)
              << fmt::format("RESULT order_to_end_ms_beside {:.1f} ms\n", beside_ms) << std::flush;
    for (const AttemptId& id : attempts)
        center.cancel(id);
    center.work_until([&] {
        while (known > 0 && center.phase_of(attempts[known - 1]) == RunPhase::kEnded)
            --known;
        return known == 0;
    });
    return 0;
}

} // namespace
} // namespace fathom::agent

int main(int argc, char** argv)
{
    if (argc != 5) {
        std::cerr << "usage: attempts_bench FOLDER PROGRAMS JOBS SECONDS\n";
        return 2;
    }
    fathom::start_log("attempts_bench", fathom::LogLevel::kWarning);
    return fathom::agent::measure(argv[1], argv[2], std::atoi(argv[3]), std::atof(argv[4]));
}
