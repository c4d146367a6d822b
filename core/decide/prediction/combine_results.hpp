#pragma once

#include "core/decide/prediction/predict.hpp"

#include <span>
#include <string>
#include <vector>

namespace fathom {

/// So many of the newest results of one operator and size on one unit type are looked at.
inline constexpr std::size_t kMaxResults = 8;

/// What several results of one operator at one size on one unit type and count say together (M17).
///
/// From the newest back, results are taken together while each lies where chance would put it: its ln(median) within
/// three standard deviations of the mean of the newer ones, as a t statistic would judge it. The deviation between
/// results is that of the newer ones, mixed with an assumed 5 % that weighs as much as two results, and with how
/// unsure the medians themselves are. The first result beyond that, and all before it, are of another state of the unit
/// type: they count no more. So a changed unit type is seen by its newest result, and noise is not taken for a change.
/// Until a second one agrees with it, a newest result by itself may be of a bad moment: it is believed, and its
/// interval reaches to what was before it. Predictions take the width of the interval for both sides (deviation_of()):
/// where it is half as slow again, a standard deviation of 0.1 of ln(time).
///
/// The median is the geometric mean of those that count. The interval (95 %) is where the next result may be expected:
/// it holds the spread between results as well as within them. A single result stays as it is. All else is the
/// newest's, and `older_run_ids` names the others.
/// @param newest_first  single results, not empty; of one operator, version, size, unit type and count. Beyond
///                      kMaxResults they do not count.
MeasuredOperator combine_results(std::span<const MeasuredOperator> newest_first);

/// The probe runs that a figure rests on, the newest first.
std::vector<std::string> run_ids_of(const MeasuredOperator& measured);

} // namespace fathom
