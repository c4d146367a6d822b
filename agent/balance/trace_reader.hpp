#pragma once

#include "core/base/json_reader.hpp"
#include "core/base/open_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::agent {

/// Reads a trace while it is written (BalanceTrace). Not thread-safe; blocks for milliseconds.
class TraceReader {
  public:
    /// @param folder  the agent's; its files are `owner`'s.
    TraceReader(OpenFile folder, uid_t owner) : folder_(std::move(folder)), owner_(owner) {}
    /// @param most_bytes  of the past, that the first call reads.
    TraceReader(OpenFile folder, uid_t owner, std::int64_t most_bytes)
        : folder_(std::move(folder)), owner_(owner), most_bytes_(most_bytes)
    {
    }

    /// The steps since the last call, the oldest first; at first all that are kept. Lines that are none are left out.
    /// @error kUnavailable  a file is there and is not the agent's.
    Result<std::vector<Json>> next();

  private:
    Result<void> open(const char* name);
    Result<void> begin();
    void read_lines(std::vector<Json>& steps);
    bool is_current() const;

    OpenFile folder_;
    uid_t owner_;
    std::optional<std::int64_t> most_bytes_; ///< of the past; none: all
    OpenFile file_;
    std::string rest_; ///< of a line that is not complete
    bool has_begun_ = false;
};

/// One line for people: time, unit, P_p, P_d, e, u and the reason.
std::string trace_line(const Json& step);
/// One line of a plot: the error (e) and the output (u) between −1 and 1, or * where they meet.
std::string trace_plot_line(const Json& step);

} // namespace fathom::agent
