#pragma once

#include "core/decide/routing/unit_type_view.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Part of core/schedule/taken_views.
namespace fathom {

struct Reservation;

/// The cores of hosts with units of several types, and what jobs that were placed before hold of them. That is noted in
/// one place for each host, and laid out only for a unit type that somebody looks at: a large network has many hosts,
/// and decisions look closely at few unit types. Not thread-safe.
class HostCores {
  public:
    /// No host has more types of units: one that does is many centers that somebody tries out on one machine. What
    /// others hold there is left out, since each look at one of them would cost as much as all of them.
    static constexpr std::uint32_t kMaxTypes = 64;

    /// @param given  must outlive it.
    explicit HostCores(std::span<const UnitTypeView> given);

    /// No host has units of several types.
    bool is_empty() const { return hosts_.empty(); }
    /// Whether others_of() has something to say.
    bool has_others(std::size_t index) const;
    /// Notes what a job holds of a unit type.
    void note(std::size_t index, const Reservation& reservation);
    /// What units of other types have on the host of this one; empty: there are none, or nothing is known of what
    /// neighbours cost here.
    std::optional<OtherCores> others_of(std::size_t index) const;

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Note {
        std::size_t unit_type{};
        double from_s{};
        double release_s{};
        std::int64_t cores{};
        std::optional<MemoryUse> memory;
        std::uint32_t next{kNone}; ///< index of the host's next one; kNone: it is the last
    };
    struct Host {
        std::int64_t cores{}; ///< of units of all types
        std::uint32_t types{};
        std::uint32_t first{kNone}; ///< index of the note; kNone: there is none
        std::uint32_t last{kNone};
    };

    std::span<const UnitTypeView> given_;
    std::vector<std::uint32_t> host_of_; ///< by unit type: index into hosts_, or kNone; empty without hosts
    std::vector<Host> hosts_;
    std::vector<Note> notes_;
};

} // namespace fathom
