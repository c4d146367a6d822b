#include "agent/balance/trace_reader.hpp"

#include "agent/balance/balance_trace.hpp"
#include "core/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kPlotColumns = 41;

std::string text_of(const Json& step, const char* key)
{
    const auto found = step.find(key);
    return found != step.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_of(const Json& step, const char* key)
{
    const auto found = step.find(key);
    return found != step.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::string figure_text(const Json& step, const char* key, const char* format)
{
    const std::optional<double> value = number_of(step, key);
    if (!value) return "    -";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), format, *value);
    return text.data();
}

/// Hours, minutes and seconds of an RFC 3339 time.
std::string clock_text(const std::string& time)
{
    return time.size() >= 19 ? time.substr(11, 8) : time;
}

/// Names come from a file that others may write: nothing of it may steer a terminal.
std::string printable(std::string text)
{
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    }
    return text;
}

std::string padded(std::string text, std::size_t width)
{
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

} // namespace

Result<void> TraceReader::open(const char* name)
{
    file_ = OpenFile(::openat(folder_.number(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    rest_.clear();
    if (file_.number() < 0 && errno == ENOENT) return {};
    struct stat facts{};
    const bool is_theirs = file_.number() >= 0 && ::fstat(file_.number(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                           (facts.st_uid == owner_ || facts.st_uid == ::geteuid());
    if (is_theirs) return {};
    file_ = OpenFile();
    return Error{Errc::kUnavailable, std::string(name) + " is not a file of the agent that can be read"};
}

void TraceReader::read_lines(std::vector<Json>& steps)
{
    if (file_.number() < 0) return;
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t size = ::read(file_.number(), buffer.data(), buffer.size());
        if (size <= 0) return;
        rest_.append(buffer.data(), static_cast<std::size_t>(size));
        std::size_t begin = 0;
        for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
            const Result<Json> json = parse_json(std::string_view(rest_).substr(begin, end - begin));
            if (json && json->is_object()) steps.push_back(*json);
            begin = end + 1;
        }
        rest_.erase(0, begin);
    }
}

bool TraceReader::is_current() const
{
    struct stat open_file{};
    struct stat named{};
    if (::fstatat(folder_.number(), kTraceName, &named, AT_SYMLINK_NOFOLLOW) != 0) return true;
    if (file_.number() < 0 || ::fstat(file_.number(), &open_file) != 0) return false;
    return open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

/// At the oldest step that is wanted. In the middle of a line: the rest of it is no line, and left out.
Result<void> TraceReader::begin()
{
    if (!most_bytes_) return open(kOlderTraceName);
    if (Result<void> opened = open(kTraceName); !opened) return opened;
    struct stat facts{};
    if (file_.number() >= 0 && ::fstat(file_.number(), &facts) == 0 && facts.st_size > *most_bytes_)
        ::lseek(file_.number(), facts.st_size - *most_bytes_, SEEK_SET);
    return {};
}

Result<std::vector<Json>> TraceReader::next()
{
    std::vector<Json> steps;
    if (!std::exchange(has_begun_, true)) {
        if (const Result<void> begun = begin(); !begun) return begun.error();
    }
    read_lines(steps);
    if (is_current()) return steps;
    if (const Result<void> opened = open(kTraceName); !opened) return opened.error();
    read_lines(steps);
    return steps;
}

std::string trace_line(const Json& step)
{
    const auto dry_run = step.find("dry_run");
    const bool is_dry_run = dry_run != step.end() && dry_run->is_boolean() && dry_run->get<bool>();
    std::string line = clock_text(text_of(step, "time")) + "  " + padded(text_of(step, "unit"), 12) + "  P_p " +
                       figure_text(step, "P_p", "%5.3f") + "  P_d " + figure_text(step, "P_d", "%5.3f") + "  e " +
                       figure_text(step, "e", "%+6.3f") + "  u " + figure_text(step, "u", "%+6.3f") + "  " +
                       (is_dry_run && text_of(step, "outcome") == "acted" ? "would act: " : "") +
                       text_of(step, "reason");
    const auto faults = step.find("faults");
    if (faults != step.end() && faults->is_array()) {
        for (const Json& fault : *faults)
            if (fault.is_string()) line += " [" + fault.get<std::string>() + "]";
    }
    return printable(std::move(line));
}

std::string trace_plot_line(const Json& step)
{
    std::string row(kPlotColumns, ' ');
    row[kPlotColumns / 2] = '|';
    const auto column = [](double value) {
        const double place = (std::clamp(value, -1.0, 1.0) + 1) / 2 * (kPlotColumns - 1);
        return static_cast<std::size_t>(std::lround(place));
    };
    const std::optional<double> error = number_of(step, "e");
    const std::optional<double> output = number_of(step, "u");
    if (output) row[column(*output)] = 'u';
    if (error) row[column(*error)] = output && column(*output) == column(*error) ? '*' : 'e';
    return printable(clock_text(text_of(step, "time")) + "  " + padded(text_of(step, "unit"), 12) + "  -1 " + row +
                     " 1");
}

} // namespace fathom::agent
