#pragma once

#include "core/model/job_input.hpp"
#include "core/model/staged_so_far.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace fathom::agent {

/// Tells people how far staging is where that takes long: after 10 s, and then at intervals that double up to 5 min, as
/// bytes come, and, where it was told of before, once all are there: who reads the last line knows whether the command
/// runs. Not thread-safe.
class StagingProgress {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Tell = std::function<void(const std::string& line)>;

    /// @param inputs  the total is known where each declares its size
    /// @param tell    is given one line, without its end
    StagingProgress(const std::vector<JobInput>& inputs, Time begin, Tell tell);

    /// @param complete_bytes  of the inputs that are complete
    void input_complete(std::int64_t complete_bytes, Time now = std::chrono::steady_clock::now());
    /// @param bytes  of the input that is being fetched, which another try may begin anew
    void fetched(std::int64_t bytes, Time now = std::chrono::steady_clock::now());

  private:
    void tell(std::int64_t bytes, Time now);

    StagedSoFar so_far_; ///< of the inputs that are complete
    bool is_told_ = false;
    Time begin_;
    Tell tell_;
    std::chrono::seconds interval_;
    Time next_;
};

} // namespace fathom::agent
