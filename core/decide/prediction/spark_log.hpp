#pragma once

#include "core/decide/prediction/query_plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom {

/// Reads a Spark event log, line by line.
class SparkLog {
  public:
    /// Takes one line; events that are not of a plan or a task are left out.
    /// @error kInvalid  it is no JSON object.
    Result<void> add_line(std::string_view line);

    /// The last plan of the execution, as Spark has adapted it; sizes as its tasks told them.
    /// @param execution  its number; none: the last that has a plan.
    /// @error kNotFound  there is no such execution.
    Result<std::vector<PlanOperator>> plan(std::optional<std::int64_t> execution) const;

  private:
    void add_tasks_counters(const Json& event);

    std::map<std::int64_t, Json> plans_; ///< by execution
    std::map<std::int64_t, double> counters_;
};

} // namespace fathom
