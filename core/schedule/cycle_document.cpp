#include "core/schedule/cycle_document.hpp"

#include "core/schedule/cycle_fields.hpp"
#include "core/schedule/document_head.hpp"

namespace fathom {
namespace {

using cycle::fields;

// As cycle::all_fields.
[[maybe_unused]] void know(const ReadyJob& job)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7] = job;
}
[[maybe_unused]] void know(const ScheduleInput& input)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, not_kept] = input; // explained_job
}

// Jobs: those that ask for the same share one request, which is written once, as a text; so is a known run, which many
// requests share.

/// The known runs of a cycle that is written or read.
class KnownRuns {
  public:
    void fields_of(ByteWriter& archive, const std::shared_ptr<const KnownRun>& run)
    {
        std::string& text = texts_[run.get()];
        if (run && text.empty()) {
            ByteWriter own;
            fields(own, *run);
            text = own.take();
        }
        archive.text(text);
    }
    void fields_of(ByteReader& archive, std::shared_ptr<const KnownRun>& run)
    {
        std::string text;
        archive.text(text);
        if (text.empty()) return;
        std::shared_ptr<const KnownRun>& known = runs_[text];
        if (!known) {
            ByteReader own(text, archive.version());
            const auto read = std::make_shared<KnownRun>();
            fields(own, *read);
            archive.expect(own.finish("a known run").has_value(), "a known run is broken");
            known = read;
        }
        run = known;
    }

  private:
    std::unordered_map<const KnownRun*, std::string> texts_;
    std::unordered_map<std::string, std::shared_ptr<const KnownRun>> runs_;
};

template <class Archive, FieldsOf<ReadyJob> T>
void job_fields(Archive& archive, T& job, std::unordered_map<std::string, std::string>& kinds, KnownRuns& known_runs)
{
    archive.text(job.id);
    std::string request;
    if constexpr (!Archive::kReads) {
        ByteWriter own;
        fields(own, job.request);
        request = own.take();
    }
    archive.text(request);
    if constexpr (Archive::kReads) {
        ByteReader own(request, archive.version());
        fields(own, job.request);
        archive.expect(own.finish("a request").has_value(), "a job's request is broken");
    }
    known_runs.fields_of(archive, job.request.known_run);
    archive.real(job.waited_s, NumberRange::kAmount);
    archive.integer(job.priority, -1000, 1000);
    archive.text(job.gang);
    archive.integer(job.gang_size);
    std::string kind;
    if constexpr (!Archive::kReads) kind = kinds.try_emplace(job.kind, std::to_string(kinds.size())).first->second;
    archive.text(kind);
    if constexpr (Archive::kReads) job.kind = kind;
}

/// Of versions whose catalogs have no loads.
void read_own_loads(ByteReader& archive, ScheduleInput& input)
{
    const auto loads = std::make_shared<UnitTypeLoads>();
    fields(archive, *loads);
    input.loads = loads;
}

void pair_fields(ByteWriter& archive, const std::shared_ptr<const PairTable>& pairs)
{
    archive.flag(pairs != nullptr);
    if (pairs) fields(archive, *pairs);
}
void pair_fields(ByteReader& archive, std::shared_ptr<const PairTable>& pairs)
{
    bool is_there = false;
    archive.flag(is_there);
    if (!is_there) return;
    const auto table = std::make_shared<PairTable>();
    fields(archive, *table);
    archive.expect(table->is_whole(), "a figure of a pair is missing");
    pairs = table;
}

template <class Archive, FieldsOf<CycleMoment> T>
void moment_fields(Archive& archive, T& moment)
{
    head_fields(archive, DocumentKind::kCycle);
    archive.moment(moment.now);
    fields(archive, moment.calendar);
    for (auto* reservations : {&moment.reserved, &moment.planned})
        list_fields(archive, *reservations, [&](auto& one) { fields(archive, one); });
    if (archive.version() >= 4) list_fields(archive, moment.gpu_rooms, [&](auto& one) { fields(archive, one); });
    auto& input = moment.input;
    std::unordered_map<std::string, std::string> kinds;
    KnownRuns known_runs;
    list_fields(archive, input.jobs, [&](auto& job) { job_fields(archive, job, kinds, known_runs); });
    list_fields(archive, input.project_uses, [&](auto& use) { fields(archive, use); });
    map_fields(archive, input.quota_uses, [&](auto& use) { fields(archive, use); });
    if constexpr (Archive::kReads) {
        if (archive.version() < kLoadsInCatalogVersion) read_own_loads(archive, input);
    }
    archive.flag(input.may_queue);
    map_fields(archive, input.queue_room, [&](auto& room) { archive.integer(room); });
    fields(archive, input.settings);
    if (archive.version() >= 8) map_fields(archive, input.probe_hosts, [&](auto& host) { fields(archive, host); });
    if (archive.version() < cycle::kPlacedOnGpusVersion) return;
    list_fields(archive, moment.gpus, [&](auto& one) { fields(archive, one); });
    pair_fields(archive, input.gpu_pairs);
}

/// Equal kinds must ask for the same: they are decided once.
bool are_kinds_equal(const std::vector<ReadyJob>& jobs)
{
    using Request = std::pair<std::string, const KnownRun*>; // equal runs are one
    std::unordered_map<std::string_view, Request> requests;
    for (const ReadyJob& job : jobs) {
        ByteWriter writer;
        fields(writer, job.request);
        const Request request{writer.take(), job.request.known_run.get()};
        const auto [known, is_new] = requests.try_emplace(job.kind, request);
        if (!is_new && known->second != request) return false;
    }
    return true;
}

/// In order of id, each once.
bool are_jobs_ordered(const std::vector<ReadyJob>& jobs)
{
    return std::adjacent_find(jobs.begin(), jobs.end(),
                              [](const ReadyJob& a, const ReadyJob& b) { return a.id >= b.id; }) == jobs.end();
}

} // namespace

std::string write_cycle(const CycleMoment& moment)
{
    ByteWriter writer;
    moment_fields(writer, moment);
    return writer.take();
}

Result<CycleMoment> read_cycle(std::string_view document)
{
    ByteReader reader(document);
    CycleMoment moment;
    moment_fields(reader, moment);
    reader.expect(are_jobs_ordered(moment.input.jobs), "its jobs are not in order");
    if (reader.is_good()) reader.expect(are_kinds_equal(moment.input.jobs), "jobs of a kind ask for other things");
    if (const Result<void> read = reader.finish("the cycle"); !read) return read.error();
    return moment;
}

} // namespace fathom
