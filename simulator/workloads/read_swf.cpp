#include "simulator/workloads/csv_lines.hpp"
#include "simulator/workloads/read_formats.hpp"
#include "simulator/workloads/workload_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kFields = 18;
constexpr double kLogWeek_s = 7 * 86400;
constexpr double kThursday_s = 3 * 86400; // Unix time begins on one

/// What both forms of a log say of a job; -1: unknown.
struct SwfLine {
    double submit_s = -1;
    double run_s = -1;
    double allocated = -1;
    double requested = -1;
    double requested_s = -1;
    double user = -1;
    double group = -1;
    double executable = -1;
    double queue = -1;
};

/// A number of a user, group … as one, whatever the file has there; -1: unknown.
std::int64_t identity(double number)
{
    return number >= 0 && number < 1e15 ? static_cast<std::int64_t>(number) : -1;
}

std::string numbered(std::string_view kind, double number)
{
    const std::int64_t id = identity(number);
    return id < 0 ? std::string() : fmt::format("{} {}", kind, id);
}

void add(const SwfLine& fields, std::int64_t line, const ReadSettings& settings, WorkloadBuilder& builder)
{
    LoggedJob job;
    job.line = line;
    job.submit_s = fields.submit_s;
    job.run_s = fields.run_s;
    job.units = fields.allocated > 0 ? fields.allocated : fields.requested;
    job.estimate_s = fields.requested_s;
    if (const std::string_view rule = broken_rule(job); !rule.empty()) return builder.skip(rule, line);
    job.user = builder.user(numbered("user", fields.user));
    job.project =
        builder.project(fields.group >= 0 ? numbered("group", fields.group) : numbered("queue", fields.queue));
    const double program = fields.executable >= 0 ? fields.executable : fields.user;
    job.job_type = builder.program_type(identity(program), settings.kind_count);
    builder.add(job);
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The value of a header line "; Name: value"; empty: it is another.
std::string_view header_value(std::string_view line, std::string_view name)
{
    line = trimmed(line.substr(1));
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(':')) return {};
    return trimmed(line.substr(name.size() + 1));
}

struct SwfHeader {
    std::string computer = "log";
    double begin_s = 0;

    void read(std::string_view line)
    {
        if (const std::string_view value = header_value(line, "Computer"); !value.empty()) computer = value;
        const std::optional<double> unix_s = parse_padded_number(header_value(line, "UnixStartTime"));
        if (unix_s && *unix_s > 0) begin_s = std::fmod(*unix_s + kThursday_s, kLogWeek_s);
    }
};

/// The line's fields as numbers, by place; fewer than there should be when it ends early. Empty: one is no number.
std::optional<std::size_t> read_fields(std::string_view line, std::array<double, kFields>& fields)
{
    std::size_t count = 0;
    for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        const std::optional<double> number = parse_padded_number(line.substr(0, end));
        if (!number || count == kFields) return std::nullopt;
        fields[count++] = *number;
        line.remove_prefix(end);
    }
    return count;
}

SwfLine to_line(const std::array<double, kFields>& fields)
{
    SwfLine line;
    line.submit_s = fields[1];
    line.run_s = fields[3];
    line.allocated = fields[4];
    line.requested = fields[7];
    line.requested_s = fields[8];
    line.user = fields[11];
    line.group = fields[12];
    line.executable = fields[13];
    line.queue = fields[14];
    return line;
}

} // namespace

Result<WorkloadInput> read_swf(std::istream& input, const std::filesystem::path&, const ReadSettings& settings)
{
    WorkloadBuilder builder("swf", "");
    SwfHeader header;
    std::string text;
    std::array<double, kFields> fields{};
    for (std::int64_t line = 1; std::getline(input, text); ++line) {
        if (trimmed(text).empty()) continue;
        if (text.starts_with(';')) {
            header.read(text);
            continue;
        }
        const std::optional<std::size_t> count = read_fields(text, fields);
        if (count == kFields)
            add(to_line(fields), line, settings, builder);
        else
            builder.skip_unreadable(count ? skip_rule::kTruncated : skip_rule::kMalformed, line, "18 numbers");
    }
    builder.input().workload.name = header.computer;
    return builder.finish(header.begin_s);
}

Result<WorkloadInput> read_swf_csv(std::istream& input, const std::filesystem::path& path, const ReadSettings& settings)
{
    enum Column : std::size_t { kSubmit, kRun, kProcessors, kRequested, kTime, kUser, kGroup, kExecutable, kQueue };
    Result<CsvLines> lines = CsvLines::open(
        input, {"submit_s", "run_s", "procs", "?req_procs", "?req_time_s", "?user", "?group", "?executable", "?queue"});
    if (!lines) return lines.error();
    WorkloadBuilder builder("swf", path.stem().string());
    while (lines->next()) {
        if (lines->excess() != 0) {
            builder.skip_unreadable(lines->excess() < 0 ? skip_rule::kTruncated : skip_rule::kMalformed, lines->line(),
                                    "as many fields as the header has");
            continue;
        }
        // What a field that is empty says is the same as what -1 says: nothing.
        bool is_malformed = false;
        const auto field = [&](Column column) {
            const std::optional<double> number = lines->number(column);
            if (!number && !lines->text(column).empty()) is_malformed = true;
            return number.value_or(-1);
        };
        const SwfLine line{field(kSubmit), field(kRun),   field(kProcessors), field(kRequested), field(kTime),
                           field(kUser),   field(kGroup), field(kExecutable), field(kQueue)};
        if (is_malformed)
            builder.skip_unreadable(skip_rule::kMalformed, lines->line(), "numbers");
        else if (lines->text(kSubmit).empty())
            builder.skip(skip_rule::kNoSubmitTime, lines->line());
        else
            add(line, lines->line(), settings, builder);
    }
    return builder.finish();
}

} // namespace fathom::simulation
