#include "core/decide/corun/pair_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Of values that rest on nothing: half of what is between nothing kept and everything.
constexpr double kDefaultSpread = 0.25;
constexpr std::int64_t kMaxCount = 1'000'000'000'000;

std::vector<FieldError> check_sample(const PairSample& sample)
{
    std::vector<FieldError> errors;
    const auto number = [&](const char* field, double value, double low, double high) {
        if (!(value >= low && value <= high))
            errors.push_back({field, fmt::format("must be between {:g} and {:g}", low, high)});
    };
    if (sample.a.kind.empty()) errors.push_back({"a", "must not be empty"});
    if (sample.b.kind.empty()) errors.push_back({"b", "must not be empty"});
    number("a_normalized_ipc", sample.a_share, kMinShare, kMaxShare);
    number("b_normalized_ipc", sample.b_share, kMinShare, kMaxShare);
    number("a_spread", sample.a_spread, 0, kMaxShare);
    number("b_spread", sample.b_spread, 0, kMaxShare);
    if (sample.count < 1 || sample.count > kMaxCount) errors.push_back({"count", "must be at least 1"});
    return errors;
}

} // namespace

void ShareRecord::add(std::int64_t more, double their_mean, double their_spread)
{
    // Two groups of values joined: Chan, Golub and LeVeque, The American Statistician 37 (1983).
    const auto ours = static_cast<double>(count);
    const auto theirs = static_cast<double>(more);
    const double both = ours + theirs;
    const double difference = their_mean - mean;
    squares += their_spread * their_spread * (theirs - 1) + difference * difference * ours * theirs / both;
    mean += difference * theirs / both;
    count += more;
}

double ShareRecord::spread() const
{
    return count < 2 ? 0 : std::sqrt(squares / static_cast<double>(count - 1));
}

PairModel::PairModel() = default;

std::size_t PairModel::kind_of(const PairMember& member)
{
    const auto [at, is_new] = kinds_.emplace(std::string(member.kind), classes_.size());
    if (is_new)
        classes_.push_back(member.kernel_class);
    else if (member.kernel_class != KernelClass::kUnknown)
        classes_[at->second] = member.kernel_class;
    return at->second;
}

Result<void> PairModel::add(const PairSample& sample)
{
    if (std::vector<FieldError> errors = check_sample(sample); !errors.empty())
        return Error{Errc::kInvalid, "the measured pair cannot be used", std::move(errors)};
    const std::size_t a = kind_of(sample.a);
    const std::size_t b = kind_of(sample.b);
    Pair& pair = pairs_[{std::min(a, b), std::max(a, b)}];
    if (a == b) {
        pair.a.add(sample.count, (sample.a_share + sample.b_share) / 2, (sample.a_spread + sample.b_spread) / 2);
        pair.b = pair.a;
        return {};
    }
    (a < b ? pair.a : pair.b).add(sample.count, sample.a_share, sample.a_spread);
    (a < b ? pair.b : pair.a).add(sample.count, sample.b_share, sample.b_spread);
    return {};
}

void PairModel::exclude(const PairMember& a, const PairMember& b)
{
    excluded_.insert(std::minmax(kind_of(a), kind_of(b)));
}

bool PairModel::is_excluded(const PairMember& a, const PairMember& b) const
{
    if (excluded_.empty()) return false;
    const auto one = kinds_.find(a.kind);
    const auto other = kinds_.find(b.kind);
    return one != kinds_.end() && other != kinds_.end() && excluded_.contains(std::minmax(one->second, other->second));
}

void PairModel::refit()
{
    std::vector<KnownPair> known;
    known.reserve(pairs_.size());
    has_class_pair_ = {};
    for (const auto& [kinds, pair] : pairs_) {
        known.push_back({kinds.first, kinds.second, pair.a.mean, pair.b.mean});
        const auto a = static_cast<std::size_t>(classes_[kinds.first]);
        const auto b = static_cast<std::size_t>(classes_[kinds.second]);
        has_class_pair_[a][b] = true;
        has_class_pair_[b][a] = true;
    }
    fit_ = fit_pairs(known, classes_);
}

const ShareRecord* PairModel::find(std::size_t kind, std::size_t beside) const
{
    const auto pair = pairs_.find({std::min(kind, beside), std::max(kind, beside)});
    if (pair == pairs_.end()) return nullptr;
    return kind <= beside ? &pair->second.a : &pair->second.b;
}

bool PairModel::is_measured(KernelClass kernel_class, KernelClass beside) const
{
    return has_class_pair_[static_cast<std::size_t>(kernel_class)][static_cast<std::size_t>(beside)];
}

PairShare PairModel::expect(const PairMember& kernel, const PairMember& beside) const
{
    const auto one = kinds_.find(kernel.kind);
    const auto other = kinds_.find(beside.kind);
    const std::optional<HeldOutErrors>& errors = fit_.errors;
    if (one != kinds_.end() && other != kinds_.end()) {
        if (const ShareRecord* record = find(one->second, other->second))
            return {record->mean, record->spread(), record->count, PairSource::kMeasured};
        const std::optional<double> completed = fit_.completion.share(one->second, other->second);
        if (completed && errors && errors->completion < errors->class_average)
            return {*completed, *completed * errors->completion, 0, PairSource::kCompleted};
    }
    const auto known_class = [&](auto found, const PairMember& member) {
        return member.kernel_class == KernelClass::kUnknown && found != kinds_.end() ? classes_[found->second]
                                                                                     : member.kernel_class;
    };
    const KernelClass a = known_class(one, kernel);
    const KernelClass b = known_class(other, beside);
    const double share = fit_.class_shares[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    if (!is_measured(a, b)) return {share, kDefaultSpread, 0, PairSource::kDefault};
    return {share, errors ? share * errors->class_average : kDefaultSpread, 0, PairSource::kClassAverage};
}

} // namespace fathom
