#include "cli/centers/shared_gpu.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fathom::cli {
namespace {

/// Names in one line at most; more are counted.
constexpr std::size_t kMaxNeighbours = 8;

struct SharedGpuOptions : ListOptions {
    std::string center;
};

std::string bytes_of(const Json& json, std::string_view name)
{
    const std::optional<double> bytes = number_of(json, name);
    return bytes ? format_bytes(*bytes) : "-";
}

/// What a program uses of what it may use.
std::string region_text(const Json& region, std::string_view used)
{
    return bytes_of(region, used) + " of " + bytes_of(region, "room_bytes");
}

/// "4.00 MiB of 6.00 MiB persistent, 8.00 MiB of 16.0 MiB temporary at most"
std::string memory_text(const Json& program)
{
    return region_text(member(program, "persistent"), "used_bytes") + " persistent, " +
           region_text(member(program, "temporary"), "peak_bytes") + " temporary at most";
}

/// "2 programs, shared"
std::string programs_text(const Json& gpu)
{
    const bool is_one = number_of(gpu, "job_count") == 1.0;
    return count_of(gpu, "job_count") + (is_one ? " program" : " programs") +
           (is_true(gpu, "is_shared") ? ", shared" : "");
}

/// A row for each GPU, and below it one for each program: its persistent memory now, and the most temporary one.
Table shared_gpus_table(const Json& gpus, Timestamp)
{
    Table table({{"CENTER"},
                 {"GPU", Align::kLeft, 2},
                 {"JOB"},
                 {"PERSISTENT", Align::kRight},
                 {"TEMPORARY", Align::kRight},
                 {"FREE", Align::kRight},
                 {"TURNS", Align::kRight, 1},
                 {"SWITCHING", Align::kRight, 1},
                 {"MOVED", Align::kRight, 3},
                 {"STAYED", Align::kRight, 3},
                 {"REFUSED", Align::kRight, 4}});
    for (const Json& gpu : gpus) {
        table.add_row({text_of(gpu, "center"), text_of(gpu, "gpu"), programs_text(gpu),
                       bytes_of(gpu, "persistent_bytes"), bytes_of(gpu, "temporary_bytes"), bytes_of(gpu, "free_bytes"),
                       "", "", "", "", count_of(gpu, "refused_count")});
        for (const Json& job : items_of(gpu, "jobs"))
            table.add_row({"", "", text_of(job, "job") + (is_true(job, "has_turn") ? " *" : ""),
                           region_text(member(job, "persistent"), "used_bytes"),
                           region_text(member(job, "temporary"), "peak_bytes"), "", count_of(job, "switches"),
                           duration_of(job, "switch_s"), bytes_of(job, "moved_bytes"), bytes_of(job, "kept_bytes"),
                           count_of(job, "refusals")});
    }
    return table;
}

/// "shared with job_b, job_c and 2 other programs"
std::string sharing_text(const std::vector<std::string>& names, double unnamed, std::string_view unnamed_one)
{
    const std::string rest =
        unnamed > 0 ? fmt::format("{:.0f} {}{}", unnamed, unnamed_one, unnamed == 1 ? "" : "s") : "";
    if (names.empty()) return rest.empty() ? "no other program" : "shared with " + rest;
    return fmt::format("shared with {}{}{}", fmt::join(names, ", "), rest.empty() ? "" : " and ", rest);
}

/// With whom a job shares a GPU: by name the jobs that the caller may know of, by number the other programs.
std::string neighbours_text(const Json& gpu, const std::string& job)
{
    std::vector<std::string> names;
    double unnamed = number_of(gpu, "job_count").value_or(0);
    for (const Json& one : items_of(gpu, "jobs")) {
        const std::string name = text_of(one, "job");
        const bool is_known = name == job || std::ranges::find(names, name) != names.end();
        if (!is_known && (name.empty() || names.size() == kMaxNeighbours)) continue;
        if (!is_known) names.push_back(name);
        --unnamed;
    }
    return sharing_text(names, unnamed, "other program");
}

/// The same of a job's GPU as it is kept.
std::string kept_neighbours_text(const Json& gpu)
{
    std::vector<std::string> names;
    double unnamed = number_of(gpu, "other_count").value_or(0);
    for (const Json& name : items_of(gpu, "neighbours")) {
        if (name.is_string() && names.size() < kMaxNeighbours)
            names.push_back(name.get<std::string>());
        else
            ++unnamed;
    }
    return sharing_text(names, unnamed, "other");
}

/// Beside each neighbour what both kept of their pace, where they had the turn at the same time.
std::string pair_text(const Json& pair)
{
    return fmt::format("beside {} {:.0f} % of its pace alone kept, {:.0f} % by the other, measured {} times",
                       text_of(pair, "neighbour"), number_of(pair, "kept_pace").value_or(0) * 100,
                       number_of(pair, "neighbour_kept_pace").value_or(0) * 100, count_of(pair, "count"));
}

/// What taking turns has cost a program until now.
std::string sharing_cost_text(const Json& program)
{
    std::string text =
        fmt::format("{} turns given back in {}, {} moved, {} stayed, waited {} at most", count_of(program, "switches"),
                    duration_of(program, "switch_s"), bytes_of(program, "moved_bytes"), bytes_of(program, "kept_bytes"),
                    duration_of(program, "longest_wait_s"));
    if (number_of(program, "refusals").value_or(0) > 0)
        text += ", memory refused " + count_of(program, "refusals") + " times";
    if (const std::optional<double> confidence = number_of(program, "iteration_confidence"))
        text += fmt::format(", iterations found with {:.0f} % confidence", std::floor(*confidence * 100));
    if (const std::optional<double> kept = number_of(program, "kept_pace"))
        text += fmt::format(", {:.0f} % of its pace alone kept", *kept * 100);
    if (const auto expected = program.find("expected_iterations"); expected != program.end()) {
        text += fmt::format(", {} iterations of {:.0f} to {:.0f} that others of its kind had",
                            count_of(program, "iterations"), number_of(*expected, "low").value_or(0),
                            number_of(*expected, "high").value_or(0));
        if (const std::optional<double> error = number_of(*expected, "mean_error"))
            text += fmt::format(" ({:.0f} % off on average)", *error * 100);
    }
    if (const std::optional<double> size = number_of(program, "input_size"))
        text += fmt::format(", input of size {:g}", *size);
    return text;
}

/// "128x4x1"
std::string extent_text(const Json& kernel, std::string_view name)
{
    std::string text;
    for (const Json& count : items_of(kernel, name)) {
        if (!text.empty()) text += 'x';
        text += count.is_number_integer() ? std::to_string(count.get<std::int64_t>()) : "-";
    }
    return text.empty() ? "-" : text;
}

/// "sgemm, 128x4x1 blocks of 256x1x1 threads: 250 launches, 2.00 ms each, 1.90 ms at least (8 timed)"
std::string kernel_text(const Json& kernel)
{
    const bool is_one = number_of(kernel, "launches") == 1.0;
    std::string text =
        fmt::format("{}, {} blocks of {} threads: {} launch{}", text_of(kernel, "name"), extent_text(kernel, "grid"),
                    extent_text(kernel, "block"), count_of(kernel, "launches"), is_one ? "" : "es");
    if (number_of(kernel, "timed").value_or(0) > 0)
        text += fmt::format(", {} each, {} at least ({} timed)", duration_of(kernel, "mean_s"),
                            duration_of(kernel, "least_s"), count_of(kernel, "timed"));
    if (kernel.contains("registers"))
        text += fmt::format(", {} registers of a thread, {} shared memory of a block", count_of(kernel, "registers"),
                            format_bytes(number_of(kernel, "shared_bytes").value_or(0) +
                                         number_of(kernel, "static_shared_bytes").value_or(0)));
    if (const auto expected = kernel.find("expected"); expected != kernel.end()) {
        text += fmt::format(
            ", expected {} by {} runs of its kind",
            format_interval(number_of(*expected, "low_s").value_or(0), number_of(*expected, "high_s").value_or(0)),
            count_of(*expected, "runs"));
        if (const std::optional<double> error = number_of(*expected, "mean_error"))
            text += fmt::format(" ({:.0f} % off on average)", *error * 100);
    }
    return text;
}

/// Of the kernels that have taken longest.
void add_kernels(std::vector<std::pair<std::string, Cell>>& details, const std::string& label, const Json& program)
{
    for (const Json& kernel : items_of(program, "kernels"))
        details.emplace_back(label, kernel_text(kernel));
}

Outcome list_shared_gpus(Session& session, const SharedGpuOptions& options)
{
    return print_list(session,
                      {.path = "/shared-gpus",
                       .query = {{"center", options.center}},
                       .table = shared_gpus_table,
                       .when_empty = "No center shares the memory of its GPUs; docs/gpu-memory.md says how one does."},
                      options);
}

} // namespace

std::vector<std::pair<std::string, Cell>> unit_gpu_details(const Json& gpus)
{
    std::vector<std::pair<std::string, Cell>> details;
    for (const Json& gpu : gpus) {
        details.emplace_back("GPU", fmt::format("{}: {}; {} persistent, {} temporary, {} free; {} not admitted",
                                                text_of(gpu, "gpu"), programs_text(gpu),
                                                bytes_of(gpu, "persistent_bytes"), bytes_of(gpu, "temporary_bytes"),
                                                bytes_of(gpu, "free_bytes"), count_of(gpu, "refused_count")));
        for (const Json& program : items_of(gpu, "jobs")) {
            details.emplace_back("  Job", text_of(program, "job") + (is_true(program, "has_turn") ? ", its turn" : ""));
            details.emplace_back("    Memory", memory_text(program));
            details.emplace_back("    Sharing costs", sharing_cost_text(program));
            add_kernels(details, "    Kernel", program);
        }
    }
    return details;
}

std::vector<std::pair<std::string, Cell>> shared_gpu_details(const Json& gpus, const std::string& job)
{
    std::vector<std::pair<std::string, Cell>> details;
    for (const Json& gpu : gpus) {
        bool is_named = false;
        for (const Json& own : items_of(gpu, "jobs")) {
            if (text_of(own, "job") != job) continue;
            if (!std::exchange(is_named, true))
                details.emplace_back("GPU", text_of(gpu, "gpu") + ": " + neighbours_text(gpu, job));
            details.emplace_back("  Memory", memory_text(own));
            details.emplace_back("  Sharing costs", sharing_cost_text(own));
            add_kernels(details, "  Kernel", own);
        }
    }
    return details;
}

std::vector<std::pair<std::string, Cell>> kept_gpu_details(const Json& gpus)
{
    std::vector<std::pair<std::string, Cell>> details;
    for (const Json& gpu : gpus) {
        details.emplace_back("GPU", text_of(gpu, "gpu") + ": " + kept_neighbours_text(gpu));
        for (const Json& program : items_of(gpu, "programs")) {
            details.emplace_back("  Memory",
                                 region_text(member(program, "persistent"), "peak_bytes") + " persistent and " +
                                     region_text(member(program, "temporary"), "peak_bytes") + " temporary at most");
            details.emplace_back("  Sharing cost", sharing_cost_text(program));
            add_kernels(details, "  Kernel", program);
        }
        for (const Json& pair : items_of(gpu, "pairs"))
            details.emplace_back("  At once", pair_text(pair));
    }
    return details;
}

void add_shared_gpu_list(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<SharedGpuOptions>();
    CLI::App& gpus =
        add_verb(noun, "gpus", "GPUs whose memory jobs share, and what each program has of it (*: its turn)",
                 "fathom unit gpus --center alpha");
    gpus.add_option("--center", options->center, "Only of this center (name or id)");
    add_list_options(gpus, *options);
    on_chosen(gpus, invocation, std::move(options), list_shared_gpus);
}

} // namespace fathom::cli
