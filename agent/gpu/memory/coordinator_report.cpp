#include "agent/gpu/memory/coordinator.hpp"

#include <algorithm>
#include <optional>

/// The part of Coordinator that tells what there is: programs what is left for them, people all of it.
namespace fathom::gpu {
namespace {

/// Programs of all users together must not make a report that the metascheduler does not take.
void limit_kernels(GpuMemoryReport& report)
{
    std::size_t left = kMaxReportedKernels;
    for (SharedGpu& gpu : report.gpus) {
        for (SharedGpuJob& job : gpu.jobs) {
            if (job.kernels.size() > left) job.kernels.resize(left);
            left -= job.kernels.size();
        }
    }
}

} // namespace

void Coordinator::tell_left(ClientId id, const Message& message)
{
    const std::string gpu(text_of(message));
    Message answer = with_text({.type = MessageType::kLeft, .first = -1}, gpu);
    if (const auto found = books_.find(gpu); found != books_.end()) {
        std::optional<MemoryBooks> in_turns;
        if (found->second.turn_count() > 1) in_turns = found->second.in_turns();
        const MemoryBooks& books = in_turns ? *in_turns : found->second;
        const bool is_there = books.clients().contains(key(id));
        // Who is not there yet is admitted with a gap, or not at all.
        const Result<AdmissionFigures> admitted = books.try_admit({});
        const bool has_place = is_there || (admitted && admitted->fits);
        answer.first = has_place ? std::max<std::int64_t>(books.figures().free_bytes, 0) : 0;
        answer.second = books.clients().size() > (is_there ? 1U : 0U) ? 1 : 0;
    }
    say(id, answer);
}

GpuMemoryReport Coordinator::report() const
{
    GpuMemoryReport report;
    for (const auto& [gpu, books] : books_)
        report.gpus.push_back(report_of(gpu, books));
    report.pairs = job_pairs_;
    limit_kernels(report);
    return report;
}

SharedGpu Coordinator::report_of(const std::string& gpu, const MemoryBooks& books) const
{
    const AdmissionFigures figures = books.figures();
    const auto refused = refused_counts_.find(gpu);
    SharedGpu known{.gpu = gpu,
                    .capacity_bytes = figures.capacity_bytes,
                    .persistent_bytes = figures.persistent_bytes,
                    .temporary_bytes = figures.most_temporary_bytes,
                    // What came back after a start may be more than there is.
                    .free_bytes = std::max<std::int64_t>(figures.free_bytes, 0),
                    .gap_bytes = books.settings().gap_bytes,
                    .is_shared = books.is_shared(),
                    .refused_count = refused == refused_counts_.end() ? 0 : refused->second,
                    .job_count = std::ssize(books.clients()),
                    .jobs = {}};
    for (const auto& [id, client] : clients_) {
        const auto memory = books.clients().find(key(id));
        if (memory == books.clients().end()) continue;
        if (known.jobs.size() == kMaxSharedGpuJobs) break;
        known.jobs.push_back(report_of(id, client, memory->second));
    }
    return known;
}

SharedGpuJob Coordinator::report_of(ClientId id, const Client& client, const ClientMemory& memory) const
{
    return {.job = client.job,
            .process = client.process,
            .has_turn = turns_.has_turn(key(id)),
            .share = client.share,
            .priority = client.priority,
            .persistent = {.start = memory.place.persistent_start,
                           .room_bytes = memory.place.persistent_room_bytes,
                           .used_bytes = memory.persistent.used_bytes,
                           .peak_bytes = memory.persistent.peak_bytes},
            .gap_bytes = memory.gap_bytes,
            .temporary = {.start = memory.place.temporary_start,
                          .room_bytes = memory.place.temporary_room_bytes,
                          .used_bytes = memory.temporary.used_bytes,
                          .peak_bytes = memory.temporary.peak_bytes},
            .iterations = memory.iterations,
            .iteration_confidence = client.iteration_confidence,
            .kept_pace = pairs_.share_of(key(id)),
            .expected_iterations = pairs_.expected_iterations(client.kind, client.input_size),
            .input_size = client.input_size,
            .kernels = kernels_of(client),
            .refusals = memory.refusals,
            .switches = client.switches,
            .switches_after_iteration = client.switches_after_iteration,
            .moved_bytes = client.moved_bytes,
            .kept_bytes = client.kept_bytes,
            .switch_s = static_cast<double>(client.switch_us) / 1e6,
            .turn_s = turns_.used_s(key(id)),
            .longest_wait_s = turns_.longest_wait_s(key(id)),
            .wrong_messages = client.wrong_messages};
}

} // namespace fathom::gpu
