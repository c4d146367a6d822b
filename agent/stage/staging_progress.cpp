#include "agent/stage/staging_progress.hpp"

#include <algorithm>
#include <numeric>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kFirstInterval{10};
constexpr std::chrono::seconds kMaxInterval{300};

std::int64_t total_of(const std::vector<JobInput>& inputs)
{
    const bool is_known =
        std::all_of(inputs.begin(), inputs.end(), [](const JobInput& input) { return input.size_bytes.has_value(); });
    if (!is_known) return 0;
    return std::accumulate(inputs.begin(), inputs.end(), std::int64_t{0},
                           [](std::int64_t sum, const JobInput& input) { return sum + *input.size_bytes; });
}

std::string megabytes(std::int64_t bytes)
{
    return std::to_string(bytes / 1'000'000) + " MB";
}

} // namespace

StagingProgress::StagingProgress(const std::vector<JobInput>& inputs, Time begin, Tell tell)
    : inputs_(inputs.size()), total_bytes_(total_of(inputs)), begin_(begin), tell_(std::move(tell)),
      interval_(kFirstInterval), next_(begin + kFirstInterval)
{
}

void StagingProgress::input_complete(std::int64_t complete_bytes)
{
    ++complete_;
    complete_bytes_ = complete_bytes;
}

void StagingProgress::fetched(std::int64_t bytes, Time now)
{
    if (now < next_) return;
    tell_(line(complete_bytes_ + bytes, now));
    interval_ = std::min(2 * interval_, kMaxInterval);
    next_ = now + interval_;
}

std::string StagingProgress::line(std::int64_t bytes, Time now) const
{
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(now - begin_);
    std::string text =
        std::to_string(complete_) + " of " + std::to_string(inputs_) + " inputs are staged, " + megabytes(bytes);
    if (total_bytes_ > 0) text += " of " + megabytes(total_bytes_);
    return text + " in " + std::to_string(took.count()) + " s";
}

} // namespace fathom::agent
