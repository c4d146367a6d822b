#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// How much looking at touched pages may cost the program that is looked at.
///
/// A look clears the "referenced" mark of every page of a process and reads the marks a few milliseconds later. Each of
/// the two walks through all of its page tables takes 30 to 80 ns a resident page, and during the first one the kernel
/// lets no thread of the process map memory or bring in a page. Therefore:
///
///  * One look is at kMaxLookBytes of resident memory at most, all processes together, which take turns: no thread
///    waits for longer than some 25 ms. A process larger than that is never looked at.
///  * A look is only made when all looks together, it included, will have taken at most 80 ms and 0.7 % of the time
///    since the start. What it will take is known from the resident size before it is made: at the rate of the last
///    one, or what is usual where that was better; the first one at a rate that is worse than usual.
///  * Looks are 0.1 s apart at least, in long runs 1 s.
namespace fathom::profile {

inline constexpr std::uint64_t kMaxLookBytes = std::uint64_t{2} << 30U;

/// Whose turn it is.
struct Turn {
    std::vector<std::size_t> chosen; ///< indices into what was to choose from
    std::size_t next{};              ///< where the next turn begins
    bool any_too_large{};            ///< at least one is never looked at
};

/// Chooses processes by their resident bytes, beginning at `first`, until the next one would be too much.
Turn choose_turn(const std::vector<std::uint64_t>& resident_bytes, std::size_t first,
                 std::uint64_t most_bytes = kMaxLookBytes);

/// The account of what looks have taken. Times are in seconds since the start of the program.
class LookBudget {
  public:
    /// Whether enough time has passed since the last look or attempt.
    bool is_due(double now_s) const;
    /// Whether a look at so many bytes can be paid for; counts as an attempt.
    bool affords(double now_s, std::uint64_t bytes);
    void spend(double look_s, std::uint64_t bytes);

  private:
    double spent_s_ = 0;
    double last_s_ = 0;
    double seconds_a_byte_ = 300e-9 / 4096; ///< of the last look; before it, of slow walks
};

} // namespace fathom::profile
