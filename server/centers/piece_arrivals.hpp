#pragma once

// Internal to server/centers.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom::server {

namespace asio = boost::asio;

/// Lets those that wait for pieces of kept files go on when these have come, whichever replica their center's agent
/// sent them to. Thread-safe.
class PieceArrivals : public std::enable_shared_from_this<PieceArrivals> {
  public:
    /// One that waits, until it is gone.
    class Wait {
      public:
        ~Wait();
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

        /// Until every piece has come, or something may have been missed, `limit` at the longest.
        /// @return whether every piece has come
        asio::awaitable<bool> until_all_came(std::chrono::milliseconds limit);

      private:
        friend class PieceArrivals;
        struct State;
        Wait(std::shared_ptr<PieceArrivals> arrivals, std::vector<std::string> questions, std::shared_ptr<State> state);

        std::shared_ptr<PieceArrivals> arrivals_;
        std::vector<std::string> questions_;
        std::shared_ptr<State> state_;
    };

    /// Call it before the questions are asked, so that no answer is missed.
    std::unique_ptr<Wait> expect(std::vector<std::string> questions, const asio::any_io_executor& executor);

    /// The answer to a question has come: a piece, or why there is none.
    void came(const std::string& question);
    /// Answers may have been missed: everybody looks for themselves.
    void look_again();

  private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Wait::State>> waits_; ///< by question
};

} // namespace fathom::server
