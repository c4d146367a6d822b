#pragma once

// Internal to core/net.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace fathom::net {

/// What answers that are on their way to slow readers may take of memory. What is on its way to one reader may have a
/// quarter of what is then left: the first one gets a fifth of all, the next one a fifth of what is left, and so on, so
/// that many together still leave something for one more. A reader's only answer may have as much as it leaves.
/// Thread-safe.
class AnswerBudget {
  public:
    explicit AnswerBudget(std::size_t bytes);

    /// Room for an answer, until the last copy is gone; nullptr: there is none. When nothing is on its way to anybody
    /// an answer may be as large as it is. Small answers do not count.
    std::shared_ptr<const void> take(const std::string& reader, std::size_t bytes);

  private:
    struct State {
        std::mutex mutex;
        std::size_t used{};
        std::map<std::string, std::size_t> used_by; ///< readers to whom something is on its way
    };

    const std::size_t bytes_;
    std::shared_ptr<State> state_; ///< places may outlive this
};

} // namespace fathom::net
