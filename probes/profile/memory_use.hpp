#pragma once

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::profile {

/// Tells how much of the time that a program computes outside operators goes by waiting for memory. Not thread-safe.
class MemoryUse {
  public:
    virtual ~MemoryUse() = default;

    /// A look at the program while it computes outside operators; may take a few milliseconds.
    virtual void look(const std::vector<pid_t>& processes) = 0;
    /// Time just spent in operators: what counters counted meanwhile is not of interest.
    virtual void skip() = 0;
    /// After the program has ended: whether this machine shows at all what was looked for. May take 0.2 s where that is
    /// not known from before.
    virtual void check_machine() {}
    /// The fraction bound by memory, 0..1, for a processor core that moves `bandwidth` bytes a second; negative when
    /// nothing was seen, or this machine does not show it.
    virtual double fraction(double bandwidth_bytes_per_s) const = 0;
    /// How it was found, for people.
    virtual std::string method() const = 0;
    /// Why nothing was seen, for people.
    virtual std::string why_unknown() const { return "too short to tell memory from compute: all counted as compute"; }
};

/// Hardware counters where the system has them for this user, else the rate at which pages are touched.
/// @param root         the program's first process, before it executes its program.
/// @param shows_pages  shows_touched_pages() of this machine, if that is known: check_machine() does not try it again,
///                     and where pages are not shown nobody looks at them.
std::unique_ptr<MemoryUse> make_memory_use(pid_t root, std::optional<bool> shows_pages = {});

/// Whether this machine shows which pages a program touches. Takes some 0.2 s.
bool shows_touched_pages();

/// What one core moves, in bytes a second: a triad over arrays that no cache holds. Takes some 0.2 s.
double measure_bandwidth();

} // namespace fathom::profile
