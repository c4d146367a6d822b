#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fathom {

inline constexpr std::size_t kSha256Digits = 64;

/// Whether it is a SHA-256 in lower-case hex digits.
bool is_sha256(std::string_view text);

/// SHA-256 of what comes piece by piece: for files that do not fit into memory. Not thread-safe.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void add(std::string_view data);
    /// 64 lower-case hex digits of all that was added; nothing can be added afterwards.
    std::string hex();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom
