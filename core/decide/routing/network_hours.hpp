#pragma once

#include "core/base/clock.hpp"
#include "core/decide/routing/unit_type_list.hpp"
#include "core/decide/routing/unit_type_order.hpp"

#include <array>
#include <cstdint>
#include <vector>

/// Part of core/decide/routing/route_columns.
namespace fathom {

/// What the network of each center is expected to give in each of the hours to come, one center behind the other:
/// profiles lie apart, and a decision asks thousands of them. Immutable.
class NetworkHours {
  public:
    NetworkHours(const UnitTypeList& unit_types, const UnitTypeOrder& order, Timestamp now);

    bool is_of(Timestamp now) const;
    /// NetworkProfile::least_end_s() of a center's network.
    /// @param center_rank  as UnitTypeOrder has it
    /// @param now          in the hour that these are of
    double least_end_s(std::uint32_t center_rank, const NetworkProfile& network, Timestamp now,
                       double size_bytes) const;

  private:
    static constexpr std::size_t kHours = 8; ///< most transfers have ended by then
    struct Center {
        const NetworkProfile* network = nullptr;
        std::array<double, kHours> rate_bytes{};
    };

    Timestamp from_; ///< of its first hour
    std::vector<Center> centers_;
};

} // namespace fathom
