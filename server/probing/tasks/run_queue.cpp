#include "server/probing/tasks/run_queue.hpp"

#include "core/base/secret.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/copies_plan.hpp"
#include "core/decide/probing/draw_size.hpp"
#include "core/model/job.hpp"
#include "server/probing/tasks/probe_budget_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace fathom::server {
namespace {

constexpr const char* kTaskFile = "probe-task.json";

/// Beyond the task's own limit, which the runner keeps: to start, to load libraries, to make inputs.
constexpr double kMargin_s = 60;

} // namespace

std::int64_t make_seed()
{
    std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
    fill_random(bytes);
    const auto random = std::bit_cast<std::uint64_t>(bytes);
    return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(kLargestSeed)) + 1;
}

ProbeTask draw_task(ProbeTask task, const std::vector<std::optional<OperatorManifest>>& manifests, std::int64_t seed)
{
    task.seed = seed;
    for (std::size_t i = 0; i < task.operators.size(); ++i) {
        // The same operator at the same size stays one size, wherever it stands in the data flow.
        if (i < manifests.size() && manifests[i])
            task.operators[i].parameters =
                draw_size(*manifests[i], task.operators[i].parameters, static_cast<std::uint64_t>(seed));
    }
    return task;
}

JobSpec make_probe_job(ProbeTask task, const RunPlace& place, const OperatorAttachments& attachments)
{
    task.manifests = attachments.manifests;
    JobSpec spec;
    spec.name = utf8_prefix("probe " + task.name, kMaxJobNameBytes);
    spec.project = "probes";
    // A type of its own: what probes need to run must not count as experience with the jobs they stand for.
    spec.type = "fathom/probe";
    spec.command = {"fathom-probe", "--task", kTaskFile};
    if (place.mode == ScalingMode::kThroughput)
        spec.command.insert(spec.command.end(), {"--copies", std::to_string(place.unit_count)});
    spec.files[kTaskFile] = to_json(task).dump();
    for (const auto& [name, package] : attachments.packages) {
        spec.command.insert(spec.command.end(), {"--operator", name});
        spec.files[name] = package;
    }
    spec.operators = task.operators;
    spec.units.center = place.center_id.value;
    if (place.selection != "center") spec.units.type = place.unit_type_id.value;
    // One must be free for a start; how many more a center that counts may have is settled when the order is sent.
    const std::int64_t count = std::max<std::int64_t>(place.unit_count, 1);
    spec.units.count = count;
    spec.units.min = count;
    spec.units.max = count;
    spec.wall_limit_s = static_cast<std::int64_t>(std::ceil(task.limit_s + kMargin_s));
    spec.metering_wait_s = 0;
    spec.deadline = place.deadline;
    return spec;
}

Result<ProbeRunId> queue_run(pqxx::work& transaction, ProbeJobWriter& writer, const ProbeTaskRecord& task,
                             const RunPlace& place)
{
    if (const auto queued = find_queued_run(transaction, task.id, place.unit_type_id, place.unit_count, place.mode))
        return *queued;
    const Result<OperatorAttachments> attachments = operator_attachments(transaction, task.document.operators);
    if (!attachments) return attachments.error();
    const std::int64_t seed = place.seed != 0 ? place.seed : make_seed();
    ProbeTask drawn = draw_task(task.document, attachments->of_uses, seed);
    if (place.mode == ScalingMode::kThroughput) drawn.limit_s = copies_limit_s(drawn.limit_s);
    const JobSpec spec = make_probe_job(drawn, place, *attachments);
    // Every cause counts: a center has agreed to so much probing, not to so many kinds of it.
    const Result<void> has_room =
        check_probe_budget(transaction, place.center_id, static_cast<double>(spec.wall_limit_s), place.unit_count);
    if (!has_room) return has_room.error();
    const JobId job = JobId::make();
    const Result<void> inserted = writer.insert_probe_job(transaction, job, spec, place.created_by);
    if (!inserted) return inserted.error();
    const ProbeRunId id = ProbeRunId::make();
    const NewProbeRun run{.id = id,
                          .probe_task_id = task.id,
                          .center_id = place.center_id,
                          .unit_type_id = place.unit_type_id,
                          .unit_count = place.unit_count,
                          .mode = place.mode,
                          .selection = place.selection,
                          .cause = place.cause,
                          .job_id = job,
                          .created_by = place.created_by,
                          .document = drawn,
                          .order_id = place.order_id.empty() ? id.value : place.order_id,
                          .count_by = place.count_by,
                          .able_unit_types = place.able_unit_types,
                          .repeats_run_id = place.repeats_run_id,
                          .divides_run_id = place.divides_run_id};
    insert_run(transaction, run);
    return run.id;
}

} // namespace fathom::server
