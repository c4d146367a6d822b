#include "core/decide/probing/generate_task.hpp"

#include "core/base/result.hpp"
#include "core/decide/measurement/execution_count.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// What a second is worth when operators are ranked whose shares of run time are not known: an order of
/// magnitude for one core. It decides only which operators are too small to be measured at all.
constexpr double kTypicalRate = 1e10;

/// An operator of the job with what is known about its size.
struct SizedUse {
    OperatorUse use;
    const OperatorManifest* manifest = nullptr;
    double work = 0;        ///< of one execution; 0: not known
    double joined_work = 0; ///< of other sizes for which this one stands
    std::string size_class;

    double total_work() const { return work * static_cast<double>(use.count); }
};

SizedUse measure_size(const OperatorUse& use, const ManifestLookup& manifests)
{
    SizedUse sized{use, manifests(use.id, use.version), 0, 0, {}};
    if (sized.manifest == nullptr) return sized;
    std::vector<FieldError> errors;
    sized.use.parameters = complete_parameters(*sized.manifest, use.parameters, "", errors);
    if (!errors.empty()) return {use, nullptr, 0, 0, {}};
    sized.work = work_of(*sized.manifest, sized.use.parameters);
    if (const SizeClass* size = size_class_of(*sized.manifest, sized.use.parameters)) sized.size_class = size->name;
    return sized;
}

/// Sets another size with the same work in all.
void resize(SizedUse& sized, const Parameters& parameters, double work)
{
    sized.use.count = execution_count(sized.total_work() / work);
    sized.use.parameters = parameters;
    sized.work = work;
}

void limit_size(SizedUse& sized, double most_over_class)
{
    if (sized.manifest == nullptr || sized.manifest->size_classes.empty()) return;
    const Parameters& largest = sized.manifest->size_classes.back().parameters;
    const double work = work_of(*sized.manifest, largest);
    if (sized.work > most_over_class * work) resize(sized, largest, work);
}

bool is_in_flow(const OperatorUse& use)
{
    return !use.label.empty() || !use.inputs.empty();
}

/// Joins `other`, which has no more work, into `into`, which stands for both.
void join(SizedUse& into, const SizedUse& other)
{
    if (into.use.parameters == other.use.parameters)
        into.use.count += other.use.count;
    else
        into.joined_work += other.total_work();
    if (into.use.share || other.use.share)
        into.use.share = std::min(1.0, into.use.share.value_or(0) + other.use.share.value_or(0));
}

/// Operators that may be joined have the same key.
std::string join_key(const SizedUse& sized, bool keeps_sizes)
{
    const std::string size =
        keeps_sizes || sized.size_class.empty() ? parameters_key(sized.use.parameters) : sized.size_class;
    return sized.use.id + "@" + std::to_string(sized.use.version) + "/" + size + "/" + sized.use.remainder;
}

bool comes_before(const SizedUse& a, const SizedUse& b)
{
    return std::tie(a.use.id, a.use.version, a.use.parameters, a.use.label, a.use.remainder, a.use.count) <
           std::tie(b.use.id, b.use.version, b.use.parameters, b.use.label, b.use.remainder, b.use.count);
}

/// One for each key, operators in the data flow apart.
std::vector<SizedUse> join_same(std::vector<SizedUse> uses, bool keeps_sizes)
{
    // Joined by falling work, the size with most of a class's work stands for it whatever the order was.
    std::sort(uses.begin(), uses.end(), [](const SizedUse& a, const SizedUse& b) {
        if (a.total_work() != b.total_work()) return a.total_work() > b.total_work();
        return comes_before(a, b);
    });
    std::vector<SizedUse> joined;
    std::map<std::string, std::size_t> places;
    for (const SizedUse& sized : uses) {
        if (is_in_flow(sized.use)) {
            joined.push_back(sized);
            continue;
        }
        const auto [place, is_new] = places.emplace(join_key(sized, keeps_sizes), joined.size());
        if (is_new)
            joined.push_back(sized);
        else
            join(joined[place->second], sized);
    }
    return joined;
}

std::vector<SizedUse> join_classes(std::vector<SizedUse> uses, double most_over_class)
{
    uses = join_same(std::move(uses), false);
    for (SizedUse& sized : uses) {
        // Once for all that was joined, so that counts are rounded once.
        if (sized.joined_work > 0)
            sized.use.count = execution_count((sized.total_work() + sized.joined_work) / sized.work);
        limit_size(sized, most_over_class);
    }
    return uses;
}

/// How much of the job an operator is: its share where all are known, else a guess from its work.
double weight_of(const SizedUse& sized, bool by_share)
{
    return by_share ? sized.use.share.value_or(0) : sized.total_work() / kTypicalRate;
}

/// Leaves out what is least of the job. What is in the data flow stays: without it the rest has no inputs.
LeftOutOperators keep_most(std::vector<SizedUse>& uses, std::size_t most)
{
    LeftOutOperators left_out;
    if (uses.size() <= most) return left_out;
    const bool by_share =
        std::all_of(uses.begin(), uses.end(), [](const SizedUse& sized) { return sized.use.share.has_value(); });
    std::sort(uses.begin(), uses.end(), [&](const SizedUse& a, const SizedUse& b) {
        if (is_in_flow(a.use) != is_in_flow(b.use)) return is_in_flow(a.use);
        const double first = weight_of(a, by_share);
        const double second = weight_of(b, by_share);
        return first != second ? first > second : comes_before(a, b);
    });
    while (uses.size() > std::max<std::size_t>(most, 1) && !is_in_flow(uses.back().use)) {
        const std::optional<double>& share = uses.back().use.share;
        ++left_out.count;
        left_out.share = left_out.share && share ? std::optional(*left_out.share + *share) : std::nullopt;
        uses.pop_back();
    }
    return left_out;
}

/// The operators that are measured for a job, with the counts of the whole job.
std::vector<SizedUse> measured_uses(const std::vector<OperatorUse>& operators, const ManifestLookup& manifests,
                                    const GenerationRule& rule, LeftOutOperators& left_out)
{
    std::vector<SizedUse> uses;
    for (const OperatorUse& use : operators)
        uses.push_back(measure_size(use, manifests));
    uses = join_same(std::move(uses), true);
    if (!rule.keeps_sizes) {
        uses = join_classes(std::move(uses), rule.most_over_class);
    } else if (rule.limits_kept_sizes) {
        for (SizedUse& sized : uses)
            limit_size(sized, rule.most_over_class);
        uses = join_same(std::move(uses), true);
    }
    left_out = keep_most(uses, rule.most_operators);
    return uses;
}

/// The number of the part that each operator belongs to: operators that share data are one part.
std::vector<std::size_t> parts_of(const std::vector<SizedUse>& uses)
{
    std::vector<std::size_t> part(uses.size());
    std::iota(part.begin(), part.end(), 0U);
    const auto merge = [&](std::size_t from, std::size_t into) { std::replace(part.begin(), part.end(), from, into); };
    for (std::size_t i = 0; i < uses.size(); ++i) {
        for (std::size_t j = 0; j < uses.size(); ++j) {
            const std::vector<std::string>& inputs = uses[i].use.inputs;
            const bool feeds = std::find(inputs.begin(), inputs.end(), uses[j].use.label) != inputs.end();
            if (feeds && part[i] != part[j]) merge(std::max(part[i], part[j]), std::min(part[i], part[j]));
        }
    }
    return part;
}

std::vector<ProbeTask> split(const std::string& name, const std::vector<SizedUse>& uses)
{
    const std::vector<std::size_t> parts = parts_of(uses);
    const std::set<std::size_t> numbers(parts.begin(), parts.end());
    std::vector<ProbeTask> tasks;
    for (const std::size_t number : numbers) {
        ProbeTask task;
        task.name = numbers.size() == 1 ? name : name + "/" + std::to_string(tasks.size() + 1);
        for (std::size_t i = 0; i < uses.size(); ++i) {
            if (parts[i] == number) task.operators.push_back(uses[i].use);
        }
        tasks.push_back(std::move(task));
    }
    return tasks;
}

} // namespace

std::int64_t scale_count(std::int64_t count, std::int64_t ratio)
{
    FATHOM_ASSERT(count >= 1 && ratio >= 1);
    // Written without count + ratio / 2, which could overflow.
    const std::int64_t whole = count / ratio;
    const bool rounds_up = count % ratio >= ratio - count % ratio;
    return std::max<std::int64_t>(1, whole + (rounds_up ? 1 : 0));
}

std::vector<ProbeTask> generate_probe_tasks(const std::string& name, const std::vector<OperatorUse>& operators,
                                            const ManifestLookup& manifests, const GenerationRule& rule)
{
    FATHOM_ASSERT(!operators.empty());
    LeftOutOperators left_out; // left_out_operators() tells those who ask
    std::vector<SizedUse> uses = measured_uses(operators, manifests, rule, left_out);
    for (SizedUse& sized : uses)
        sized.use.count = scale_count(sized.use.count, rule.ratio);
    // One mix of operators is one task, whatever the order in which a job names them.
    std::sort(uses.begin(), uses.end(), comes_before);
    if (rule.form == TaskForm::kSeveralTasks) return split(name, uses);
    ProbeTask task;
    task.name = name;
    for (SizedUse& sized : uses)
        task.operators.push_back(std::move(sized.use));
    return {std::move(task)};
}

LeftOutOperators left_out_operators(const std::vector<OperatorUse>& operators, const ManifestLookup& manifests,
                                    const GenerationRule& rule)
{
    LeftOutOperators left_out;
    measured_uses(operators, manifests, rule, left_out);
    return left_out;
}

} // namespace fathom
