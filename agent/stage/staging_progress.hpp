#pragma once

#include "core/model/job_input.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace fathom::agent {

/// Tells people how far staging is where that takes long: after 10 s, and then at intervals that double up to 5 min, as
/// bytes come. Not thread-safe.
class StagingProgress {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Tell = std::function<void(const std::string& line)>;

    /// @param inputs  the total is known where each declares its size
    /// @param tell    is given one line, without its end
    StagingProgress(const std::vector<JobInput>& inputs, Time begin, Tell tell);

    /// @param complete_bytes  of the inputs that are complete
    void input_complete(std::int64_t complete_bytes);
    /// @param bytes  of the input that is being fetched, which another try may begin anew
    void fetched(std::int64_t bytes, Time now = std::chrono::steady_clock::now());

  private:
    std::string line(std::int64_t bytes, Time now) const;

    std::size_t inputs_;
    std::int64_t total_bytes_ = 0; ///< 0: not known
    std::size_t complete_ = 0;
    std::int64_t complete_bytes_ = 0;
    Time begin_;
    Tell tell_;
    std::chrono::seconds interval_;
    Time next_;
};

} // namespace fathom::agent
