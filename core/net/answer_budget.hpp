#pragma once

// Internal to core/net.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace fathom::net {

/// What answers that are on their way to slow readers may take of memory, in all and those to one network. Thread-safe.
class AnswerBudget {
  public:
    AnswerBudget(std::size_t bytes, std::size_t bytes_of_one_network);

    /// Room for an answer, until the last copy is gone; nullptr: there is none. A network to which nothing is on its
    /// way gets its answer however large it is, as long as there is room in all; so does the first of all. Small
    /// answers do not count.
    std::shared_ptr<const void> take(const std::string& network, std::size_t bytes);

  private:
    struct State {
        std::mutex mutex;
        std::size_t used{};
        std::map<std::string, std::size_t> used_by; ///< networks to which something is on its way
    };

    const std::size_t bytes_;
    const std::size_t bytes_of_one_network_;
    std::shared_ptr<State> state_; ///< places may outlive this
};

} // namespace fathom::net
