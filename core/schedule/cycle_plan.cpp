#include "core/schedule/cycle_plan.hpp"

#include "core/schedule/cycle_fields.hpp"
#include "core/schedule/filter_number.hpp"

#include <fmt/format.h>

#include <map>

namespace fathom {
namespace {

constexpr std::size_t kMaxDifferences = 20;

/// FNV-1a, eight bytes at a time.
class Fingerprint {
  public:
    void add(std::uint64_t value)
    {
        sum_ = (sum_ ^ value) * 0x100000001b3U;
        sum_ ^= sum_ >> 32U;
    }
    void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
    void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
    void add(bool value) { add(std::uint64_t{value ? 1U : 0U}); }
    void add(std::string_view text)
    {
        add(static_cast<std::uint64_t>(text.size()));
        for (const char one : text)
            sum_ = (sum_ ^ static_cast<unsigned char>(one)) * 0x100000001b3U;
    }
    std::uint64_t sum() const { return sum_; }

  private:
    std::uint64_t sum_ = 0xcbf29ce484222325U;
};

void add(Fingerprint& print, const CountOffer& offer)
{
    print.add(offer.unit_count);
    for (const double number : {offer.run_s, offer.beyond_s, offer.objective})
        print.add(number);
}

void add(Fingerprint& print, const CountChoice& count)
{
    print.add(count.unit_count);
    for (const double number : {count.wait_s, count.run_s, count.completion_s, count.cost, count.objective})
        print.add(number);
}

void add(Fingerprint& print, const Candidate& one)
{
    print.add(one.unit_type_id.value);
    print.add(one.feasible);
    print.add(static_cast<std::uint64_t>(one.removed_by ? written_number(*one.removed_by) + 1 : 0));
    for (const std::int64_t number : {one.unit_count, one.knee, one.prediction.unknown_operators,
                                      one.correction.job_count, one.correction.like_count})
        print.add(number);
    for (const double number : {one.prediction.run_s,
                                one.prediction.low_s,
                                one.prediction.high_s,
                                one.prediction.start_up_s,
                                one.single_run_s,
                                one.compute_s,
                                one.raw.run_s,
                                one.raw.low_s,
                                one.raw.high_s,
                                one.correction.factor,
                                one.correction.deviation,
                                one.correction.width_factor,
                                one.trust_penalty_s,
                                one.wait_s,
                                one.closed_until_s,
                                one.start.wait_s,
                                one.start.low_s,
                                one.start.high_s,
                                one.plan.start_s,
                                one.plan.in_s,
                                one.plan.out_s,
                                one.plan.occupied.run_s,
                                one.plan.occupied.high_s,
                                one.plan.completion_s,
                                one.plan.rate_bytes,
                                one.completion_s,
                                one.cost,
                                one.energy_j,
                                one.objective,
                                one.trust_factor})
        print.add(number);
    for (const CountOffer& offer : one.offers)
        add(print, offer);
    for (const CountChoice& count : one.counts)
        add(print, count);
}

std::uint64_t figures_of(const Decision& decision)
{
    Fingerprint print;
    print.add(static_cast<std::uint64_t>(decision.winner ? *decision.winner + 1 : 0));
    print.add(decision.can_start_now);
    print.add(decision.quota_obstacle.empty());
    print.add(decision.filter_trace.candidates);
    print.add(decision.filter_trace.left);
    for (const FilterStep& step : decision.filter_trace.steps) {
        print.add(static_cast<std::uint64_t>(written_number(step.filter)));
        print.add(step.removed);
    }
    for (const Candidate& one : decision.candidates)
        add(print, one);
    return print.sum();
}

void add_winner(PlannedJob& job, const Decision& decision)
{
    job.rank_text = decision.rank_text;
    if (!decision.winner) return;
    const Candidate& winner = decision.candidates[*decision.winner];
    job.unit_type_id = winner.unit_type_id.value;
    job.unit_count = winner.unit_count;
    job.start_s = winner.plan.start_s;
    job.run_s = winner.prediction.run_s;
    job.completion_s = winner.completion_s;
    job.cost = winner.cost;
    job.energy_j = winner.energy_j;
    job.objective = winner.objective;
}

/// The first version whose waiting jobs have brief decisions.
constexpr std::uint64_t kBriefWaitsVersion = 6;
/// The first version in which probes wait for their hosts.
constexpr std::uint64_t kHeldProbesVersion = 8;

template <class Archive, FieldsOf<PlannedJob> T>
void fields(Archive& archive, T& one)
{
    auto& [job, is_start, unit_type_id, unit_count, start_s, run_s, completion_s, cost, energy_j, objective, rank_text,
           waits_for_units, waits_for_host, planned, left_free, priority_rank, figures] = one;
    std::uint64_t index = job;
    archive.number(index);
    if constexpr (Archive::kReads) job = index;
    archive.flag(is_start);
    archive.text(unit_type_id);
    archive.integer(unit_count);
    for (auto* number : {&start_s, &run_s, &completion_s, &cost, &energy_j, &objective})
        archive.real(*number, NumberRange::kForEver);
    archive.text(rank_text);
    archive.flag(waits_for_units);
    if (archive.version() >= kHeldProbesVersion) archive.flag(waits_for_host);
    optional_fields(archive, planned, [&](auto& reservation) { cycle::fields(archive, reservation); });
    archive.text(left_free);
    archive.real(priority_rank);
    archive.number(figures);
}

template <class Archive, FieldsOf<PlanRecord> T>
void record_fields(Archive& archive, T& record)
{
    std::uint64_t version = kCycleVersion;
    archive.number(version);
    archive.expect(kOldestCycleVersion <= version && version <= kCycleVersion, "it is of another version");
    archive.set_version(version);
    list_fields(archive, record, [&](auto& job) {
        fields(archive, job);
        if constexpr (Archive::kReads) {
            // Then the decisions of waiting jobs had other places than the winner.
            if (version < kBriefWaitsVersion && !job.is_start) job.figures = 0;
        }
    });
}

// What differs, for people.

std::string place_of(const std::string& id, std::span<const UnitTypeView> unit_types)
{
    for (const UnitTypeView& view : unit_types) {
        if (view.id.value == id) return view.center_name + "/" + view.name;
    }
    return id.empty() ? "no place" : id;
}

std::string outcome_of(const PlannedJob& job, std::span<const UnitTypeView> unit_types)
{
    const std::string place = place_of(job.unit_type_id, unit_types);
    const std::string units = job.unit_type_id.empty() ? "" : fmt::format("{} of ", job.unit_count);
    return (job.is_start ? "starts on " : "waits for ") + units + place;
}

bool is_same(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool is_same(const std::optional<Reservation>& a, const std::optional<Reservation>& b)
{
    if (a.has_value() != b.has_value()) return false;
    return !a || (a->unit_type_id == b->unit_type_id && a->unit_count == b->unit_count && a->project == b->project &&
                  is_same(a->from_s, b->from_s) && is_same(a->release_s, b->release_s));
}

/// The first figure that differs; empty: none.
std::string figure_difference(const PlannedJob& stored, const PlannedJob& again)
{
    struct Figure {
        const char* name;
        double PlannedJob::* value;
    };
    constexpr Figure kFigures[] = {{"start_s", &PlannedJob::start_s},
                                   {"run_s", &PlannedJob::run_s},
                                   {"completion_s", &PlannedJob::completion_s},
                                   {"cost", &PlannedJob::cost},
                                   {"energy_j", &PlannedJob::energy_j},
                                   {"objective", &PlannedJob::objective},
                                   {"priority_rank", &PlannedJob::priority_rank}};
    for (const Figure& figure : kFigures) {
        const double before = stored.*figure.value;
        const double after = again.*figure.value;
        if (!is_same(before, after)) return fmt::format("{} {} was stored, {} came out", figure.name, before, after);
    }
    if (!is_same(stored.planned, again.planned)) return "other units are planned for it";
    if (stored.left_free != again.left_free) return "it leaves another free place";
    if (stored.waits_for_units != again.waits_for_units) return "whether it waits for units";
    if (stored.waits_for_host != again.waits_for_host) return "whether it waits for its host";
    if (stored.rank_text != again.rank_text)
        return "\"" + stored.rank_text + "\" was stored, \"" + again.rank_text + "\" came out";
    if (stored.figures != 0 && stored.figures != again.figures) return "the figures of other places that it compared";
    return {};
}

} // namespace

PlanRecord record_of(const SchedulePlan& plan)
{
    PlanRecord record;
    record.reserve(plan.starts.size() + plan.waits.size());
    std::map<const Decision*, std::uint64_t> known; // equal jobs share a decision
    for (const ScheduledStart& start : plan.starts) {
        PlannedJob& job = record.emplace_back();
        job.job = start.job;
        job.is_start = true;
        add_winner(job, start.decision);
        job.figures = figures_of(start.decision);
    }
    for (const ScheduledWait& wait : plan.waits) {
        PlannedJob& job = record.emplace_back();
        job.job = wait.job;
        add_winner(job, *wait.decision);
        job.waits_for_units = wait.waits_for_units;
        job.waits_for_host = wait.waits_for_host;
        job.planned = wait.planned;
        if (wait.left_free) job.left_free = wait.left_free->unit_type_id.value;
        job.priority_rank = wait.priority_rank;
        const auto [print, is_new] = known.try_emplace(wait.decision.get());
        if (is_new) print->second = figures_of(*wait.decision);
        job.figures = print->second;
    }
    return record;
}

std::string write_plan(const PlanRecord& record)
{
    ByteWriter writer;
    record_fields(writer, record);
    return writer.take();
}

Result<PlanRecord> read_plan(std::string_view document)
{
    ByteReader reader(document);
    PlanRecord record;
    record_fields(reader, record);
    if (const Result<void> read = reader.finish("the plan"); !read) return read.error();
    return record;
}

std::vector<std::string> plan_differences(const PlanRecord& stored, const PlanRecord& again,
                                          const std::vector<ReadyJob>& jobs, std::span<const UnitTypeView> unit_types)
{
    std::vector<std::string> differences;
    for (std::size_t i = 0; i < std::max(stored.size(), again.size()); ++i) {
        if (differences.size() == kMaxDifferences) break;
        if (i >= stored.size() || i >= again.size()) {
            differences.push_back(fmt::format("{} jobs were stored, {} came out", stored.size(), again.size()));
            break;
        }
        const PlannedJob& before = stored[i];
        const PlannedJob& after = again[i];
        const auto name = [&](const PlannedJob& one) {
            return one.job < jobs.size() ? jobs[one.job].id : fmt::format("job {}", one.job);
        };
        const bool is_same_outcome = before.job == after.job && before.is_start == after.is_start &&
                                     before.unit_type_id == after.unit_type_id && before.unit_count == after.unit_count;
        if (!is_same_outcome)
            differences.push_back(fmt::format("no. {}: {} {} was stored, {} {} came out", i + 1, name(before),
                                              outcome_of(before, unit_types), name(after),
                                              outcome_of(after, unit_types)));
        else if (const std::string figure = figure_difference(before, after); !figure.empty())
            differences.push_back(
                fmt::format("no. {}: {} {}: {}", i + 1, name(before), outcome_of(before, unit_types), figure));
    }
    return differences;
}

} // namespace fathom
