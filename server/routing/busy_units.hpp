#pragma once

#include "core/base/clock.hpp"
#include "core/decide/busy_share.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace fathom::server {

/// How busy the units of each type have been of late, as one router has seen it since it started: what core/decide's
/// order of jobs takes as load. Not thread-safe.
class BusyUnits {
  public:
    /// What a look of the router leaves of one unit type.
    struct Left {
        std::string unit_type_id;
        std::int64_t used_units{};
        std::int64_t unit_count{}; ///< 0: it is closed, so that nothing can be said of it until the next look
    };

    /// From `now` until the next look so many units are in use. Unit types that are not named are forgotten.
    void note(std::span<const Left> left, Timestamp now);

    /// 0..1, as BusyShare::mean(); 1 of a unit type of which nothing is known.
    double load(const std::string& unit_type_id) const;

  private:
    struct Known {
        BusyShare busy;
        std::optional<double> share; ///< in use since the last look
        std::int64_t look{};         ///< that named it last
    };

    std::unordered_map<std::string, Known> unit_types_;
    std::optional<Timestamp> last_;
    std::int64_t looks_ = 0;
};

} // namespace fathom::server
