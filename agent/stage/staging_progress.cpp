#include "agent/stage/staging_progress.hpp"

#include <algorithm>
#include <numeric>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kFirstInterval{10};
constexpr std::chrono::seconds kMaxInterval{300};

/// Empty where one does not declare its size.
std::optional<std::int64_t> total_of(const std::vector<JobInput>& inputs)
{
    const bool is_known =
        std::all_of(inputs.begin(), inputs.end(), [](const JobInput& input) { return input.size_bytes.has_value(); });
    if (!is_known) return std::nullopt;
    return std::accumulate(inputs.begin(), inputs.end(), std::int64_t{0},
                           [](std::int64_t sum, const JobInput& input) { return sum + *input.size_bytes; });
}

} // namespace

StagingProgress::StagingProgress(const std::vector<JobInput>& inputs, Time begin, Tell tell)
    : so_far_{.inputs = static_cast<std::int64_t>(inputs.size()), .total_bytes = total_of(inputs)}, begin_(begin),
      tell_(std::move(tell)), interval_(kFirstInterval), next_(begin + kFirstInterval)
{
}

void StagingProgress::input_complete(std::int64_t complete_bytes, Time now)
{
    ++so_far_.complete;
    so_far_.bytes = complete_bytes;
    if (so_far_.complete == so_far_.inputs && is_told_) tell(so_far_.bytes, now);
}

void StagingProgress::fetched(std::int64_t bytes, Time now)
{
    if (now < next_) return;
    tell(so_far_.bytes + bytes, now);
    interval_ = std::min(2 * interval_, kMaxInterval);
    next_ = now + interval_;
}

void StagingProgress::tell(std::int64_t bytes, Time now)
{
    is_told_ = true;
    StagedSoFar told = so_far_;
    told.bytes = bytes;
    told.elapsed_s = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
    tell_(staging_line(told));
}

} // namespace fathom::agent
