#pragma once

#include "core/decide/order_jobs.hpp"

#include <optional>
#include <span>
#include <vector>

/// What is still free while starts are decided; part of core/decide/order_jobs.
namespace fathom {

/// Units of one type that are kept for a job whose patience is over.
struct KeptUnits {
    double start_s{};           ///< when that job can start there; 0 where that is not known: nothing runs before it
    std::int64_t spare_units{}; ///< units that it leaves free when it starts
    bool is_known{};            ///< when it can start
};

class FreeUnits {
  public:
    explicit FreeUnits(std::span<const UnitTypeLoad> unit_types);

    /// True when the option fits into what is free, and leaves alone what is kept for others.
    bool fits(const JobOption& option) const;
    void take(const JobOption& option);
    void give_back(const JobOption& option);
    std::int64_t count(std::size_t unit_type) const;

    bool is_kept(std::size_t unit_type) const;
    /// What keeping so many units would be, from what frees when.
    KeptUnits plan_keeping(std::size_t unit_type, std::int64_t unit_count) const;
    void keep(std::size_t unit_type, const KeptUnits& kept);

  private:
    std::span<const UnitTypeLoad> unit_types_;
    std::vector<std::int64_t> free_;
    std::vector<std::optional<KeptUnits>> kept_;
};

/// Releases by their time.
std::vector<UnitRelease> sorted_releases(const UnitTypeLoad& unit_type);

} // namespace fathom
