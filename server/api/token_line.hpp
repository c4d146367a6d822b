#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace fathom::server {

namespace asio = boost::asio;

/// Lets so many requests of each token work at once, and the others wait for their turn: a token's line is its own, so
/// that however many it sends, others' requests find room. Thread-safe.
class TokenLine {
  public:
    /// @param most  of one token at once, at least 1.
    explicit TokenLine(std::size_t most);

    /// A place, until the last copy of it is gone; first come, first served among those of the token. Resumes the
    /// caller on its own executor.
    asio::awaitable<std::shared_ptr<const void>> take(std::string token_id);

    std::size_t most() const { return most_; }

  private:
    struct State;

    const std::size_t most_;
    std::shared_ptr<State> state_; ///< places may outlive this
};

/// A token's turns in its line, for answers that go on for long: these wait before each look at the database.
struct TokenTurns {
    std::shared_ptr<TokenLine> line{}; ///< null: there is none to wait in
    std::string token_id{};

    /// A place until the last copy of it is gone; null where there is no line.
    asio::awaitable<std::shared_ptr<const void>> take() const;
};

} // namespace fathom::server
