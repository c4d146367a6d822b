#include "core/decide/measurement/same_result.hpp"

#include "core/model/probe_result.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace fathom {
namespace {

constexpr double kTolerances = 16;
constexpr double kMinMargin = 1e-11;

bool is_near(double a, double b, double margin)
{
    return std::abs(a - b) <= margin;
}

bool projections_agree(const std::vector<double>& a, const std::vector<double>& b, double tolerance)
{
    if (a.size() != b.size() || a.empty()) return false;
    const double margin = std::max(kTolerances * tolerance, kMinMargin);
    // The first one is a size, the others are relative to it.
    if (!is_near(a.front(), b.front(), margin * std::max(std::abs(a.front()), std::abs(b.front())))) return false;
    return std::equal(a.begin() + 1, a.end(), b.begin() + 1,
                      [&](double one, double other) { return is_near(one, other, margin); });
}

} // namespace

std::string difference_of(const OperatorResult& claimed, const OperatorResult& computed, double tolerance)
{
    if (!claimed.checksum.empty() && claimed.checksum == computed.checksum) return {};
    if (projections_agree(claimed.projection, computed.projection, tolerance)) return {};
    const std::string figures = "checksum " + claimed.checksum + ", right is " + computed.checksum;
    return operator_key(claimed.id, claimed.parameters) + ": " + figures;
}

} // namespace fathom
