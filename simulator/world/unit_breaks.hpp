#pragma once

#include "simulator/world/scenario.hpp"

#include <cstdint>
#include <vector>

namespace fathom::simulation {

/// When units break, which, and for how long: the same for all policies, whatever they do with the units.
class UnitBreaks {
  public:
    /// Keeps the network, which must outlive it.
    UnitBreaks(const Network& network, std::uint64_t seed);

    /// The next break of a unit type after that moment; infinite: none. As if every unit could always break: one that
    /// is broken already is passed over when its time comes.
    double next_s(std::size_t unit_type, double after_s) const;

    struct Break {
        std::int64_t unit{}; ///< 0 … units of the type − 1
        double repair_s{};   ///< from the break on
    };
    /// The break that next_s() told; the next call tells another one.
    Break take(std::size_t unit_type);

  private:
    const Network* network_;
    std::uint64_t seed_;
    std::vector<std::uint64_t> numbers_; ///< breaks so far, by unit type
};

} // namespace fathom::simulation
