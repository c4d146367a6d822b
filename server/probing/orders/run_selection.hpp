#pragma once

#include "core/decide/prediction/scaling.hpp"
#include "core/model/probe_task.hpp"
#include "server/centers/center_questions.hpp"
#include "server/centers/unit_type_directory.hpp"

#include <span>
#include <string>
#include <vector>

namespace fathom::server {

/// How the units of a probe run are chosen (M13).
enum class RunSelection {
    kCatalog, ///< (a) every unit type whose operators include the task's
    kAsk,     ///< (b) the unit types that each center names when it is asked
    kUser,    ///< (c) the unit types that the caller names
    kCenter,  ///< (d) each center chooses among its own and reports what it used
};
std::string_view to_string(RunSelection selection);

/// Who says how many units run the probe (M14).
enum class CountBy {
    kOrder,   ///< the order: one count, or several
    kScaling, ///< counts that tell models of scaling apart, as many as the unit type has units
    kCenter,  ///< the center takes what is free and reports it
};
std::string_view to_string(CountBy count_by);

/// What a caller asked for.
struct SelectionOrder {
    RunSelection selection{RunSelection::kCatalog};
    std::vector<std::string> unit_types; ///< kUser: ids or "center/unit_type"
    std::vector<std::string> centers;    ///< others: ids or names; empty for all
    /// kThroughput: a copy on each unit of a count, kScaling: on what plan_copies() says.
    ScalingMode mode{ScalingMode::kStrong};
    CountBy count_by{CountBy::kOrder};
    std::vector<std::int64_t> unit_counts{1}; ///< kOrder: ascending, each once; of copies 2…kMaxProbeCopies
    std::chrono::seconds answer_wait{5};      ///< kAsk: for centers to answer
};

/// A unit type that runs a probe task, once for each count.
struct SelectedPlace {
    UnitTypeOffer offer;
    std::vector<std::int64_t> unit_counts;    ///< 0: the center counts
    std::vector<std::string> able_unit_types; ///< kAsk: all that its center named (M18)
};

struct Selection {
    std::vector<SelectedPlace> places;
    std::vector<FieldError> left_out; ///< kAsk: centers that did not answer; counts that a unit type does not have
};

/// Where a probe task runs, and on how many units. For kCenter that is one proposal a center. Pure.
/// @param offers   what the centers offer, ordered by center.
/// @param answers  kAsk: what they said.
/// @error kInvalid     a name that stands for nothing, or a picked unit type that cannot run the task.
/// @error kInfeasible  nowhere in the network, or at a named center nowhere; the reason for each place.
Result<Selection> select_unit_types(const SelectionOrder& order, const std::vector<OperatorUse>& operators,
                                    const std::vector<UnitTypeOffer>& offers,
                                    std::span<const CenterAnswer> answers = {});

} // namespace fathom::server
