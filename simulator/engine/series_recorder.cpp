#include "simulator/engine/series_recorder.hpp"

#include <utility>

namespace fathom::simulation {
namespace {

/// Keeps each point that is at least so far from the one kept before it, and the first and the last.
void thin_out(std::vector<SeriesPoint>& points, double spacing_s)
{
    std::size_t kept = 0;
    double next_s = points.front().at_s;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i].at_s < next_s && i + 1 < points.size()) continue;
        next_s = points[i].at_s + spacing_s;
        if (kept != i) points[kept] = std::move(points[i]);
        ++kept;
    }
    points.resize(kept);
}

} // namespace

void SeriesRecorder::note(SeriesPoint point)
{
    next_s_ = point.at_s + spacing_s_;
    points_.push_back(std::move(point));
    if (points_.size() < 2 * kMaxPoints) return;
    spacing_s_ = (points_.back().at_s - points_.front().at_s) / static_cast<double>(kMaxPoints);
    thin_out(points_, spacing_s_);
    next_s_ = points_.back().at_s + spacing_s_;
}

std::vector<SeriesPoint> SeriesRecorder::take()
{
    if (points_.size() > kMaxPoints) {
        const double span_s = points_.back().at_s - points_.front().at_s;
        thin_out(points_, span_s / static_cast<double>(kMaxPoints - 2));
    }
    return std::exchange(points_, {});
}

} // namespace fathom::simulation
