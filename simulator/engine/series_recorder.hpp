#pragma once

#include "simulator/engine/simulation.hpp"

#include <vector>

namespace fathom::simulation {

/// Keeps how a network looked over time, in so few points that a plot can show them, without knowing when the end will
/// come: when there are too many, they are thinned to half as many, and from then on are taken only so far apart.
class SeriesRecorder {
  public:
    /// Whether a point is wanted now.
    bool wants(double at_s) const { return at_s >= next_s_; }
    /// Times must not fall.
    void note(SeriesPoint point);
    /// The points, evenly thinned to kMaxPoints.
    std::vector<SeriesPoint> take();

    static constexpr std::size_t kMaxPoints = 2000;

  private:
    std::vector<SeriesPoint> points_;
    double next_s_ = 0;
    double spacing_s_ = 0;
};

} // namespace fathom::simulation
