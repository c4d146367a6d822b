#include "simulator/live/live_export.hpp"

#include "simulator/live/export_network.hpp"
#include "simulator/world/centers_file.hpp"

namespace fathom::simulation {
namespace {

/// The Monday 00:00 UTC at or before it.
Timestamp monday_before(Timestamp time)
{
    const auto day = std::chrono::floor<std::chrono::days>(time);
    return day - (std::chrono::weekday(day) - std::chrono::Monday);
}

} // namespace

ExportSpan span_since(Timestamp since, Timestamp now)
{
    return {.begins = monday_before(since), .since = since, .now = now};
}

Result<LiveExport> export_live_network(NetworkSource& source, const ExportSpan& span)
{
    const Result<NetworkLists> network = read_network(source);
    if (!network) return network.error();
    const Result<ReadJobs> read = read_jobs(source, span);
    if (!read) return read.error();
    std::map<std::string, ExportedType> types = types_of(read->jobs, network->unit_types);
    for (auto& [name, type] : types) {
        if (const Result<void> found = find_rates(source, name, network->unit_types, type); !found)
            return found.error();
    }
    LiveExport live;
    live.unit_type_count = network->unit_types.size();
    live.is_cut = read->is_cut;
    live.centers = centers_document(*network, types, span.begins, live.notes);
    if (const auto checked = parse_centers(live.centers); !checked) return checked.error();
    Result<ExportedJobs> exported = export_jobs(source, read->jobs, network->unit_types, types, span);
    if (!exported) return exported.error();
    live.jobs = std::move(*exported);
    return live;
}

std::string lines_text(const ExportedJobs& jobs)
{
    std::string text;
    for (const Json& line : jobs.lines)
        text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return text;
}

} // namespace fathom::simulation
