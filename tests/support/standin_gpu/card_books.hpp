#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <sys/types.h>

namespace fathom::standin {

/// Ends the process with a line that says what was wrong, in FATHOM_STANDIN_FAULTS, too.
[[noreturn]] void fault(const std::string& text);

/// What of a card does one thing after another, by the virtual clock (virtual_clock.hpp).
enum class Engine { kCopy, kCompute };

/// One card's memory and time, for all processes that use it. A file in FATHOM_STANDIN_CARDS, locked while it is
/// changed; a process that has ended holds nothing.
class CardBooks {
  public:
    struct Slot {
        pid_t process;
        std::int64_t bytes;
    };
    struct Shared {
        std::int64_t peak_bytes;
        std::int64_t refusals;
        std::array<std::int64_t, 2> free_at_ns; ///< of each engine, by the virtual clock
        std::array<std::int64_t, 2> busy_ns;    ///< the same in all
        std::int64_t latest_ns;                 ///< to which any process has come
        std::array<Slot, 512> slots;
    };

    explicit CardBooks(const std::string& id);

    /// @return  false if the card has not as much.
    bool take(std::int64_t bytes, std::int64_t capacity);
    std::int64_t used() const { return used_; }

    /// Work for an engine, behind all that it has.
    /// @return  when it will be done.
    std::int64_t use(Engine engine, std::int64_t earliest_ns, std::int64_t cost_ns);
    /// A process has come to that time.
    void note_time(std::int64_t at_ns);
    std::int64_t latest_ns() const;

  private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// A lock of a slot's own byte ends with its process, whatever becomes of that.
    struct flock lock_of(std::size_t slot) const;
    bool is_alive(std::size_t slot) const;
    void take_slot();

    int file_ = -1;
    std::size_t own_ = kNone;
    Shared* shared_{};
    std::int64_t used_{};
};

} // namespace fathom::standin
