#include "cli/simulation/simulate_load.hpp"

#include "cli/client/input_file.hpp"
#include "cli/simulation/simulate_changes.hpp"
#include "core/base/parse_number.hpp"
#include "simulator/setup/share_gpus.hpp"
#include "simulator/workloads/inflated_file.hpp"

#include <filesystem>
#include <iterator>
#include <utility>

namespace fathom::cli {
namespace {

constexpr JsonLimits kCentersLimits{.max_bytes = 64UL << 20U};

} // namespace

Result<LoadedCenters> load_centers(Session& session, const SimulateOptions& options)
{
    const Result<Json> json = read_input_file(options.centers, session.console(), kCentersLimits);
    if (!json) return json.error();
    Result<simulation::CentersFile> file = simulation::parse_centers(*json);
    if (!file) return in_file(options.centers, file.error());
    Result<simulation::CentersFile> changed = changed_centers(*json, options);
    if (!changed) return changed.error();
    return LoadedCenters{std::move(*file), std::move(*changed)};
}

Result<simulation::WorkloadInput> load_workload(const SimulateOptions& options)
{
    simulation::ReadSettings settings;
    settings.format = options.format == "auto" ? "" : options.format;
    settings.seed = options.seed;
    settings.kind_count = options.kind_count;
    settings.part = options.part;
    settings.jobs_per_hour = options.jobs_per_hour;
    settings.has_multiple_gpus = options.has_multiple_gpus;
    settings.job_count = options.job_count;
    Result<simulation::WorkloadInput> input = simulation::read_workload(options.workload, settings);
    if (!input) {
        // What cannot be opened is wrong usage here, not something of the server's that is missing.
        const Error error = input.error();
        return Error{Errc::kInvalid, error.detail, error.fields};
    }
    input->workload.name = std::filesystem::path(options.workload).filename().string();
    return input;
}

Result<std::optional<simulation::Scenario>> load_shared(const SimulateOptions& options,
                                                        const simulation::Scenario& scenario)
{
    if (options.gpu_sharing == "off") return std::optional<simulation::Scenario>();
    if (options.gpu_pairs.empty())
        return Error{Errc::kInvalid, "--gpu-sharing needs --gpu-pairs FILE, what pairs of jobs keep of their speed"};
    const auto file = simulation::InflatedFile::open(options.gpu_pairs);
    if (!file) return Error{Errc::kInvalid, file.error().detail};
    const std::string text{std::istreambuf_iterator<char>(file->get()), std::istreambuf_iterator<char>()};
    if (const std::string& damage = (*file)->damage(); !damage.empty())
        return Error{Errc::kInvalid, options.gpu_pairs + ": " + damage};
    Result<simulation::Scenario> shared = simulation::share_gpus(scenario, text);
    if (!shared) return Error{Errc::kInvalid, options.gpu_pairs + ": " + shared.error().detail};
    return std::optional(std::move(*shared));
}

Result<std::optional<simulation::CountedRange>> parse_counted(const std::string& text)
{
    if (text.empty()) return std::optional<simulation::CountedRange>();
    const std::size_t colon = text.find(':');
    simulation::CountedRange range;
    const auto read = [&](std::string_view digits, std::size_t& number) {
        const auto parsed = parse_number<std::size_t>(digits);
        number = parsed.value_or(0);
        return parsed.has_value();
    };
    const std::string_view view = text;
    std::size_t end = 0;
    const bool has_first = colon != std::string::npos && colon > 0;
    const bool has_end = colon != std::string::npos && colon + 1 < text.size();
    if (colon == std::string::npos || (has_first && !read(view.substr(0, colon), range.first)) ||
        (has_end && !read(view.substr(colon + 1), end)))
        return Error{Errc::kInvalid, "--count \"" + text + "\" must be FIRST:END, such as 4000:5000"};
    if (has_end) range.end = end;
    return std::optional(range);
}

} // namespace fathom::cli
