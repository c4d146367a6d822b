#include "simulator/workloads/read_workload.hpp"

#include "simulator/workloads/csv_lines.hpp"
#include "simulator/workloads/inflated_file.hpp"
#include "simulator/workloads/read_formats.hpp"
#include "simulator/workloads/workload_builder.hpp"
#include "simulator/workloads/workload_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxShown = 60; ///< bytes of a line, in an error

constexpr std::array<WorkloadFormat, 7> kFormats{
    {{"swf", "log in the standard workload format, as it is or as CSV"},
     {"json-lines", "one job a line, as Fathom exports them"},
     {"gavel", "Gavel's synthetic workload, from its table of training speeds (solo.csv)"},
     {"gavel-trace", "Gavel's job lists (physical_traces.csv, with solo.csv beside it)"},
     {"pollux", "Pollux's job lists; how much each job works is drawn by application"},
     {"philly", "jobs of Microsoft's Philly cluster"},
     {"alibaba2023", "pods of Alibaba's GPU cluster"}}};

Result<WorkloadInput> read_json_lines(std::istream& input, const std::filesystem::path&, const ReadSettings&)
{
    return read_job_lines(input);
}

/// A form in which a format comes.
struct Form {
    std::string_view format;
    bool (*fits)(std::string_view first_line);
    WorkloadReader* read;
};

bool has_columns(std::string_view header, std::initializer_list<std::string_view> columns)
{
    const std::string fields = fmt::format(",{},", header);
    return std::all_of(columns.begin(), columns.end(), [&](std::string_view column) {
        return fields.find(fmt::format(",{},", column)) != std::string::npos;
    });
}

bool is_native_swf(std::string_view line)
{
    return line.starts_with(';') || (line.find(',') == std::string_view::npos &&
                                     parse_padded_number(line.substr(0, line.find_first_of(" \t"))).has_value());
}

const std::array<Form, 8> kForms{
    {{"json-lines", [](std::string_view line) { return line.starts_with('{'); }, read_json_lines},
     {"swf", [](std::string_view line) { return has_columns(line, {"submit_s", "run_s", "procs"}); }, read_swf_csv},
     {"swf", is_native_swf, read_swf},
     {"gavel", [](std::string_view line) { return has_columns(line, {"gpu", "scale_factor", "steps_per_s"}); },
      read_gavel},
     {"gavel-trace", [](std::string_view line) { return has_columns(line, {"trace", "job_type", "total_steps"}); },
      read_gavel_trace},
     {"pollux", [](std::string_view line) { return has_columns(line, {"submit_s", "app", "num_replicas"}); },
      read_pollux},
     {"philly", [](std::string_view line) { return has_columns(line, {"duration_s", "num_gpus", "vc"}); }, read_philly},
     {"alibaba2023", [](std::string_view line) { return has_columns(line, {"creation_s", "deletion_s", "num_gpu"}); },
      read_alibaba}}};

std::string_view first_line_of(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    text = text.substr(0, text.find('\n'));
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

/// The beginning of a text as it can be shown.
std::string excerpt(std::string_view text)
{
    std::string shown(text.substr(0, kMaxShown));
    std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return shown;
}

/// The form that a file of that format, or of any, seems to have.
Result<const Form*> form_of(std::string_view first_line, std::string_view format)
{
    const Form* only_one = nullptr;
    for (const Form& form : kForms) {
        if (!format.empty() && form.format != format) continue;
        if (form.fits(first_line)) return &form;
        only_one = &form;
    }
    // A file that is said to be of a format is read as such: the reader then says what is wrong with it.
    if (!format.empty() && only_one != nullptr) return only_one;
    if (!format.empty()) return Error{Errc::kInvalid, fmt::format("there is no workload format {}", format)};
    return Error{Errc::kInvalid,
                 fmt::format("line 1, \"{}\", is not how a workload of any format begins: expected a header line with "
                             "the columns of a log, a line with ';', or an object of JSON",
                             excerpt(first_line))};
}

} // namespace

std::span<const WorkloadFormat> workload_formats()
{
    return kFormats;
}

Result<WorkloadInput> read_workload(const std::filesystem::path& path, const ReadSettings& settings)
{
    const auto failed = [&](const Error& error) {
        return Error{error.code, fmt::format("{}: {}", path.string(), error.detail), error.fields};
    };
    Result<std::unique_ptr<InflatedFile>> file = InflatedFile::open(path);
    if (!file) return file.error();
    if ((*file)->ahead().empty()) {
        const std::string& damage = (*file)->damage();
        return failed({Errc::kInvalid, damage.empty() ? "the file is empty" : damage});
    }
    const Result<const Form*> form = form_of(first_line_of((*file)->ahead()), settings.format);
    if (!form) return failed(form.error());
    std::istream stream(file->get());
    Result<WorkloadInput> input = (*form)->read(stream, path, settings);
    if (!input) return failed(input.error());
    input->format = (*form)->format;
    // What came before the damage is used; that there was some is told.
    if (!(*file)->damage().empty()) {
        const std::int64_t last_line = *std::max_element(input->lines.begin(), input->lines.end());
        count_skip(input->skips, (*file)->damage(), last_line + 1);
    }
    return input;
}

} // namespace fathom::simulation
