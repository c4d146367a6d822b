#pragma once

#include "simulator/engine/center_queue.hpp"
#include "simulator/engine/unit_pool.hpp"
#include "simulator/policies/policy.hpp"
#include "simulator/world/scenario.hpp"
#include "simulator/world/unit_breaks.hpp"

#include <optional>
#include <vector>

namespace fathom::simulation {

/// The units of all centers in the course of a simulation, the centers' own queues, and what centers report.
class NetworkState {
  public:
    /// @param has_queues  centers have queues of their own, and are known by reports as old as these are.
    /// @param counted_from_s,counted_to_s  of UnitPool.
    NetworkState(const Network& network, bool has_queues, std::uint64_t seed, double counted_from_s,
                 double counted_to_s);

    std::size_t size() const { return pools_.size(); }
    UnitPool& pool(std::size_t unit_type) { return pools_[unit_type]; }
    CenterQueue& queue(std::size_t unit_type) { return queues_[unit_type]; }
    std::span<const UnitTypeReport> reports() const { return reports_; }
    std::vector<std::int64_t> busy_units() const; ///< by unit type
    double next_break_s(std::size_t unit_type, double after_s) const { return breaks_.next_s(unit_type, after_s); }

    /// Centers report when their time has come, before anything else happens.
    void report_until(double next_s, double every_s);
    void take(std::size_t job, std::size_t unit_type, std::int64_t units, double now_s);
    void give_back(std::size_t job, std::size_t unit_type, double now_s);

    /// What breaks next of a unit type.
    struct Break {
        bool has_happened = false;      ///< false: that unit is broken already
        double repaired_at_s{};         ///< repair() is to be called then
        std::optional<std::size_t> job; ///< it ran on that unit, and must leave before break_one()
    };
    Break next_break(std::size_t unit_type, double now_s);
    void break_one(std::size_t unit_type, double now_s);
    void repair(std::size_t unit_type, double now_s);

    /// Queues of these unit types are to be looked at: something came, ended or opened.
    void touch(std::size_t unit_type) { is_touched_[unit_type] = 1; }
    void touch_center(std::size_t center);
    /// Whether it was touched since the last call.
    bool take_touch(std::size_t unit_type);

  private:
    void note_units(std::size_t unit_type);

    const Network* network_;
    std::vector<UnitPool> pools_;
    std::vector<CenterQueue> queues_; ///< empty without queues
    std::vector<UnitTypeReport> reports_;
    UnitBreaks breaks_;
    std::vector<std::uint8_t> is_touched_;
    double last_report_s_ = 0;
};

} // namespace fathom::simulation
