#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// When units of one type that are busy come free; part of core/decide/queue/wait_queue.
namespace fathom {

/// Some units that are free after a while.
struct FreedUnits {
    double in_s{};        ///< from now
    std::int64_t units{}; ///< that have come free until then, all together
};

/// The ends of what runs, kept in order while runs begin and end. A run that is over its time is expected to take as
/// long again as it is late. Not thread-safe.
class UnitReleases {
  public:
    void add(double at_s, std::int64_t units);
    /// Takes back an equal add().
    void remove(double at_s, std::int64_t units);

    /// The first moment until which at least so many units have come free; nothing when so many are not known of.
    /// Of times asked for, each is not before the last.
    std::optional<FreedUnits> when(std::int64_t units, double now_s) const;

  private:
    struct Release {
        double at_s{};
        std::int64_t units{};
        bool operator<(const Release& other) const { return at_s < other.at_s; }
    };
    void look_from(double now_s) const;
    void look_further() const;

    std::vector<Release> releases_; ///< by time
    std::int64_t units_ = 0;        ///< of all
    // What when() has found out for its last moment; as many releases as it needed to look at.
    mutable bool is_current_ = false;
    mutable double now_s_{};
    mutable std::vector<FreedUnits> freed_; ///< by in_s, no two alike
    mutable std::size_t late_ = 0;          ///< releases before this one are late, and have not been looked at
    mutable std::size_t due_ = 0;           ///< releases from this one on are due, and have not been looked at
};

} // namespace fathom
