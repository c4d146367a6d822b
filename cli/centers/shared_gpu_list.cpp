#include "cli/centers/shared_gpu.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <fmt/format.h>

namespace fathom::cli {
namespace {

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
        const bool is_one = number_of(gpu, "job_count") == 1.0;
        const std::string title = count_of(gpu, "job_count") + (is_one ? " program" : " programs") +
                                  (is_true(gpu, "is_shared") ? ", shared" : "");
        table.add_row({text_of(gpu, "center"), text_of(gpu, "gpu"), title, bytes_of(gpu, "persistent_bytes"),
                       bytes_of(gpu, "temporary_bytes"), bytes_of(gpu, "free_bytes"), "", "", "", "",
                       count_of(gpu, "refused_count")});
        for (const Json& job : items_of(gpu, "jobs"))
            table.add_row({"", "", text_of(job, "job") + (is_true(job, "has_turn") ? " *" : ""),
                           region_text(member(job, "persistent"), "used_bytes"),
                           region_text(member(job, "temporary"), "peak_bytes"), "", count_of(job, "switches"),
                           duration_of(job, "switch_s"), bytes_of(job, "moved_bytes"), bytes_of(job, "kept_bytes"),
                           count_of(job, "refusals")});
    }
    return table;
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

std::vector<std::pair<std::string, Cell>> shared_gpu_details(const Json& gpus, const std::string& job)
{
    std::vector<std::pair<std::string, Cell>> details;
    for (const Json& gpu : gpus) {
        for (const Json& own : items_of(gpu, "jobs")) {
            if (text_of(own, "job") != job) continue;
            const double others = number_of(gpu, "job_count").value_or(1) - 1;
            details.emplace_back("GPU", fmt::format("{}: {}", text_of(gpu, "gpu"),
                                                    others > 0 ? fmt::format("shared with {:.0f} other program{}",
                                                                             others, others == 1 ? "" : "s")
                                                               : "no other program"));
            details.emplace_back("  Memory", region_text(member(own, "persistent"), "used_bytes") + " persistent, " +
                                                 region_text(member(own, "temporary"), "peak_bytes") +
                                                 " temporary at most");
            details.emplace_back("  Sharing costs", count_of(own, "switches") + " turns given back in " +
                                                        duration_of(own, "switch_s") + ", " +
                                                        bytes_of(own, "moved_bytes") + " moved, waited " +
                                                        duration_of(own, "longest_wait_s") + " at most");
        }
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
