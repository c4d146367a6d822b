#pragma once

#include "core/decide/routing/route.hpp"
#include "core/schedule/host_cores.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Part of core/schedule/unit_ledger.
namespace fathom {

/// Units of one type that are taken for some time. Seconds count from now.
struct Reservation {
    UnitTypeId unit_type_id;
    std::int64_t unit_count{1};
    double release_s{};    ///< when they are free again
    double from_s{};       ///< when they are taken
    std::string project{}; ///< of the job that has them: it uses what is kept for its project
    /// Units of how many devices are not whole because of it (whole_device_takes()); empty: as newly_shared_units()
    /// says.
    std::optional<std::int64_t> whole_device_units{};
    std::optional<MemoryUse> memory{}; ///< of the job that has them, where it is known
};

/// The unit types with what is taken of them. A large network has many reservations, and decisions look closely at few
/// unit types: what is taken is noted in 72 bytes for each reservation, and a unit type is copied, and what was noted
/// laid on it in the order in which it came, when somebody looks at it. Not thread-safe.
class TakenViews final : public LateViews {
  public:
    /// @param given  must outlive it.
    explicit TakenViews(std::span<const UnitTypeView> given);

    /// Makes room for so many notes.
    void expect(std::size_t reservations) { notes_.reserve(reservations); }
    /// What is held on hosts with units of several types: goes with each copy, so it must be noted before the first
    /// one.
    HostCores& hosts() { return hosts_; }
    /// Whether something is noted of the unit type that is not laid on it yet.
    bool is_late(std::size_t index) const { return noted_[index].first != kNone; }
    /// Notes what is taken of a unit type that has no copy, and for whose project nothing is held there.
    void note(std::size_t index, const Reservation& reservation);
    /// Takes it now.
    void take(std::size_t index, const Reservation& reservation);
    bool has_copy(std::size_t index) const { return copy_of_[index] != nullptr; }
    /// The copy of a unit type, with all that was noted, which may be changed.
    UnitTypeView& own(std::size_t index);

    const UnitTypeView& make(std::size_t index) override { return own(index); }
    std::optional<std::int64_t> most_taken(std::size_t index) const override;
    std::optional<std::int64_t> most_taken_ever(std::size_t index) const override;
    std::optional<double> last_release_s(std::size_t index) const override;

  private:
    /// What a reservation takes of its unit type, but for what is held for its project.
    struct TakenUnits {
        double from_s{};
        double release_s{};
        std::int64_t unit_count{};
        std::optional<std::int64_t> whole_device_units;
        std::optional<MemoryUse> memory;
    };
    /// One that is not laid yet.
    struct Note {
        TakenUnits taken;
        std::uint32_t next{}; ///< index of the unit type's next one; kNone: it is the last
    };
    static TakenUnits taken_by(const Reservation& reservation);
    static void take_units(UnitTypeView& view, const TakenUnits& taken);
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::span<const UnitTypeView> given_;
    HostCores hosts_;
    std::vector<Note> notes_;
    /// What is noted of a unit type.
    struct Noted {
        std::uint32_t first{kNone}; ///< index of the note; kNone: there is none
        std::uint32_t last{kNone};
        std::int64_t most_taken{}; ///< as most_taken()
        std::int64_t all_taken{};  ///< as most_taken_ever()
        double last_release_s{};   ///< as last_release_s()
    };
    // By unit type:
    std::vector<Noted> noted_;
    std::vector<UnitTypeView*> copy_of_; ///< nullptr: the unit type is as it was given, but for notes
    std::deque<UnitTypeView> copies_;
};

} // namespace fathom
