#include "simulator/figures/confidence.hpp"

#include "simulator/figures/figures.hpp"
#include "simulator/figures/no_figure.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kBothTails = 0.05;

/// Rounded to a millionth: mathematical libraries differ in last digits, and results are to be the same everywhere.
double student_t(std::size_t count)
{
    const boost::math::students_t student(static_cast<double>(count - 1));
    return std::round(boost::math::quantile(boost::math::complement(student, kBothTails / 2)) * 1e6) / 1e6;
}

} // namespace

Confidence confidence(const std::vector<double>& values)
{
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
        if (std::isnan(value)) continue; // no such figure under that seed
        sum += value;
        ++count;
    }
    if (count == 0) return {kNoFigure, kNoFigure};
    const double mean = sum / static_cast<double>(count);
    if (count == 1) return {mean, kNoFigure};
    double squares = 0;
    for (const double value : values) {
        if (!std::isnan(value)) squares += (value - mean) * (value - mean);
    }
    const double variance = squares / static_cast<double>(count - 1);
    return {mean, student_t(count) * std::sqrt(variance / static_cast<double>(count))};
}

} // namespace fathom::simulation
