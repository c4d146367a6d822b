#include "tests/agent/balance/balance_fixture.hpp"

#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/file.hpp"

#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace fathom::agent::test {

void write(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    write_file_unflushed(path, text).value();
}

std::string read(const std::filesystem::path& path)
{
    return read_file(path).value();
}

bool is_there(const std::filesystem::path& path)
{
    return std::filesystem::exists(path);
}

BalancedHost::BalancedHost()
{
    for (const int cpu : {0, 1}) {
        write(limit(cpu), "1500000\n");
        write(limit(cpu).parent_path() / "cpuinfo_min_freq", "1000000\n");
        write(limit(cpu).parent_path() / "cpuinfo_max_freq", "3000000\n");
    }
    count(0, 0);
    std::filesystem::create_directories(traces());
    std::filesystem::create_directories(attempts());
}

BalancedUnit BalancedHost::unit() const
{
    return {.name = "pair", .device = "", .cpus = {0, 1}, .cgroup = "jobs", .link_bytes_per_s = 1e9};
}

HostFiles BalancedHost::files() const
{
    return {.proc = folder_.path() / "proc",
            .cpus = folder_.path() / "cpu",
            .cgroups = folder_.path() / "cgroup",
            .resctrl = folder_.path() / "resctrl",
            .nvml_library = "/nowhere/libnvidia-ml.so.1"};
}

std::filesystem::path BalancedHost::limit(int cpu) const
{
    return folder_.path() / "cpu" / ("cpu" + std::to_string(cpu)) / "cpufreq" / "scaling_max_freq";
}

void BalancedHost::count(double busy_s, double bytes) const
{
    write(files().cgroups / "jobs" / "cpu.stat",
          "usage_usec " + std::to_string(std::llround(busy_s * 1e6)) + "\nuser_usec 1\nsystem_usec 1\n");
    write(files().cgroups / "jobs" / "io.stat",
          "8:0 rbytes=" + std::to_string(std::llround(bytes)) + " wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n");
}

bool BalancedHost::compute_until(const std::function<bool()>& condition) const
{
    constexpr std::chrono::seconds kLimit{60};
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const auto now = std::chrono::steady_clock::now();
        count(1.8 * std::chrono::duration<double>(now - begin).count(), 0);
        if (condition()) return true;
        if (now - begin > kLimit) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

bool BalancedHost::is_changed() const
{
    return read(limit(0)).substr(0, 7) != "1500000";
}

UnitJob BalancedHost::run_job(const std::map<std::string, std::string>& environment) const
{
    SupervisorOrder order;
    order.run = RunOrder{shell_order("true"), {0}, 1, 0, {}};
    order.run.order.environment = environment;
    const AttemptFolder folder(attempts() / order.run.order.attempt_id.value);
    std::filesystem::create_directories(folder.work());
    write(folder.order(), encode(order));
    write(folder.running(), encode_running(Timestamp()));
    return {.attempt = order.run.order.attempt_id, .work = folder.work(), .uid = ::geteuid()};
}

void BalancedHost::end_job(const UnitJob& job) const
{
    write(AttemptFolder(attempts() / job.attempt.value).status(), "{}");
}

BalanceTrace BalancedHost::trace() const
{
    OpenFile folder(::open(traces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return BalanceTrace(std::move(folder), ::geteuid(), ::getegid(), 1 << 20, 100);
}

BalanceConfig BalancedHost::config() const
{
    BalanceConfig config;
    config.enabled = true;
    config.dry_run = false;
    config.units = {unit()};
    return config;
}

} // namespace fathom::agent::test
