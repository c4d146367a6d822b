#pragma once

// Internal to core/net.

#include <atomic>
#include <cstddef>
#include <utility>

namespace fathom::net {

/// How many bytes all requests of a server may keep of their bodies at once. Thread-safe.
class ByteBudget {
  public:
    explicit ByteBudget(std::size_t bytes) : bytes_(bytes) {}

    /// One request's share, given back when it goes. Not thread-safe.
    class Share {
      public:
        explicit Share(ByteBudget& budget) : budget_(&budget) {}
        ~Share() { give_back(); }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        /// Takes as much as is missing. False, and as before, when the budget has not that much left.
        bool grow_to(std::size_t bytes)
        {
            if (bytes <= taken_) return true;
            const std::size_t more = bytes - taken_;
            const std::size_t used = budget_->used_.fetch_add(more, std::memory_order_relaxed) + more;
            if (used > budget_->bytes_) {
                budget_->used_.fetch_sub(more, std::memory_order_relaxed);
                return false;
            }
            taken_ = bytes;
            return true;
        }

        void give_back() { budget_->used_.fetch_sub(std::exchange(taken_, 0), std::memory_order_relaxed); }

      private:
        ByteBudget* budget_;
        std::size_t taken_ = 0;
    };

  private:
    const std::size_t bytes_;
    std::atomic<std::size_t> used_{0};
};

} // namespace fathom::net
