#include "agent/balance/processor_sensor.hpp"

#include "core/base/file.hpp"
#include "core/base/parse_number.hpp"

#include <algorithm>
#include <sstream>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// A whole number and nothing else.
std::optional<double> parse_counter(std::string_view text)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.remove_suffix(1);
    const auto value = parse_number<std::uint64_t>(text);
    if (!value) return std::nullopt;
    return static_cast<double>(*value);
}

/// user, nice, system, irq, softirq and steal of one processor, in ticks; guests are in user already.
std::optional<double> busy_ticks(const std::string& line)
{
    std::istringstream fields(line);
    std::string name;
    double user = 0;
    double nice = 0;
    double system = 0;
    double idle = 0;
    double io_wait = 0;
    double irq = 0;
    double soft_irq = 0;
    double steal = 0;
    if (!(fields >> name >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq)) return std::nullopt;
    fields >> steal;
    return user + nice + system + irq + soft_irq + steal;
}

/// The sum of rbytes and wbytes of all lines.
double io_bytes(const std::string& text)
{
    double bytes = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!word.starts_with("rbytes=") && !word.starts_with("wbytes=")) continue;
        bytes += parse_counter(std::string_view(word).substr(7)).value_or(0);
    }
    return bytes;
}

} // namespace

Result<double> ProcessorSensor::read_busy_s() const
{
    if (!unit_.cgroup.empty()) {
        const std::filesystem::path path = files_.cgroups / unit_.cgroup / "cpu.stat";
        const Result<std::string> text = read_file(path);
        if (!text) return Error{Errc::kUnavailable, "absent: " + path.string()};
        std::istringstream words(*text);
        for (std::string name, value; words >> name >> value;) {
            const std::optional<double> counter = name == "usage_usec" ? parse_counter(value) : std::nullopt;
            if (counter) return *counter / 1e6;
        }
        return Error{Errc::kUnavailable, "absent: usage_usec in " + path.string()};
    }
    const Result<std::string> text = read_file(files_.proc / "stat");
    if (!text) return Error{Errc::kUnavailable, "absent: " + (files_.proc / "stat").string()};
    double ticks = 0;
    std::size_t found = 0;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("cpu")) continue;
        const std::optional<double> number =
            parse_counter(std::string_view(line).substr(3, line.find(' ') - std::min<std::size_t>(3, line.size())));
        if (!number || !std::binary_search(unit_.cpus.begin(), unit_.cpus.end(), static_cast<std::int64_t>(*number)))
            continue;
        ticks += busy_ticks(line).value_or(0);
        ++found;
    }
    if (found != unit_.cpus.size()) return Error{Errc::kUnavailable, "absent: a processor of the unit is offline"};
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Result<double> ProcessorSensor::read_bytes() const
{
    std::error_code error;
    double bytes = 0;
    bool has_memory_counters = false;
    for (std::filesystem::directory_iterator domain(files_.resctrl / "mon_data", error), end; !error && domain != end;
         domain.increment(error)) {
        const Result<std::string> text = read_file(domain->path() / "mbm_total_bytes");
        if (!text) continue;
        const std::optional<double> counter = parse_counter(*text); // or "Unavailable"
        if (!counter) return Error{Errc::kUnavailable, "the memory's counters say " + *text};
        bytes += *counter;
        has_memory_counters = true;
    }
    if (has_memory_counters) return bytes;
    if (unit_.cgroup.empty())
        return Error{Errc::kUnavailable, "absent: counters of what is moved (no resctrl, and no control group is set)"};
    const std::filesystem::path path = files_.cgroups / unit_.cgroup / "io.stat";
    const Result<std::string> text = read_file(path);
    if (!text) return Error{Errc::kUnavailable, "absent: " + path.string()};
    return io_bytes(*text);
}

Result<ProcessorSensor::Counters> ProcessorSensor::read() const
{
    const Result<double> busy_s = read_busy_s();
    if (!busy_s) return busy_s.error();
    const Result<double> bytes = read_bytes();
    if (!bytes) return bytes.error();
    return Counters{std::chrono::steady_clock::now(), *busy_s, *bytes};
}

Result<Occupancies> ProcessorSensor::measure()
{
    const Result<Counters> now = read();
    const std::optional<Counters> before = std::exchange(before_, now ? std::optional(*now) : std::nullopt);
    if (!now) return now.error();
    if (!before) return Error{Errc::kUnavailable, "counting begins"};
    const double period_s = std::chrono::duration<double>(now->at - before->at).count();
    // Ticks are a hundredth of a second: in a short period one more or less may be beyond what there is.
    const auto processors = static_cast<double>(unit_.cpus.size());
    const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    double busy_s = now->busy_s - before->busy_s;
    if (busy_s > processors * period_s && busy_s <= processors * (period_s + 2 * tick_s))
        busy_s = processors * period_s;
    return measure_occupancies({.bytes = now->bytes - before->bytes, .operations = busy_s, .period_s = period_s},
                               {.link_bytes_per_s = unit_.link_bytes_per_s, .peak_operations_per_s = processors},
                               most_sample_age_s_);
}

} // namespace fathom::agent
