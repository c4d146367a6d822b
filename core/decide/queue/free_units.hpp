#pragma once

#include "core/decide/queue/order_jobs.hpp"

#include <limits>
#include <vector>

/// What is still free while starts are decided; part of core/decide/queue/wait_queue.
namespace fathom {

/// Units of one type that are reserved for a job whose starvation limit is over.
struct BackfillReservation {
    double start_s{};           ///< when that job can start there; 0 where that is not known: nothing runs before it
    std::int64_t spare_units{}; ///< units that it leaves free when it starts
    bool is_known{};            ///< when it can start
};

/// The free units of all types. A value: a decision works on a copy.
class FreeUnits {
  public:
    explicit FreeUnits(std::size_t unit_types) : types_(unit_types) {}

    /// @param free_for_s  UnitTypeLoad::free_for_s
    void set(std::size_t unit_type, std::int64_t count, double free_for_s);

    /// True when the option fits into what is free, and leaves alone what is reserved for others.
    bool fits(const JobOption& option) const
    {
        const Type& type = types_[option.unit_type];
        if (option.unit_count > type.count || option.run_s > type.free_for_s) return false;
        return !type.is_reserved || option.run_s <= type.reservation.start_s ||
               option.unit_count <= type.reservation.spare_units;
    }
    void take(const JobOption& option);
    void give_back(const JobOption& option);
    std::int64_t count(std::size_t unit_type) const { return types_[unit_type].count; }
    double free_for_s(std::size_t unit_type) const { return types_[unit_type].free_for_s; }
    /// Whether anything at all can start there.
    bool is_open(std::size_t unit_type) const
    {
        return types_[unit_type].count > 0 && types_[unit_type].free_for_s > 0;
    }

    bool is_reserved(std::size_t unit_type) const { return types_[unit_type].is_reserved; }
    void reserve(std::size_t unit_type, const BackfillReservation& reservation);

  private:
    struct Type {
        std::int64_t count = 0;
        double free_for_s = std::numeric_limits<double>::infinity();
        bool is_reserved = false;
        BackfillReservation reservation;
    };
    std::vector<Type> types_;
};

} // namespace fathom
