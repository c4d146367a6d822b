#pragma once

#include "core/decide/routing/route_columns.hpp"

#include <chrono>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom {

/// Which unit types lack a fresh measurement of one of a job's operators at its very size (M10), at one moment; kept
/// for requests that are alike. Not thread-safe.
class UnmeasuredPlaces {
  public:
    UnmeasuredPlaces(std::shared_ptr<RouteColumns> columns, Timestamp now) : columns_(std::move(columns)), now_(now) {}

    /// The unit types that could run the request and lack, for one of its operators, a measurement that is at most
    /// `period` old: indices into the unit types of the columns. Valid as long as this object.
    const std::vector<std::size_t>& find(const RouteRequest& request, std::chrono::seconds period);

  private:
    std::vector<std::size_t> list(const RouteRequest& request, std::chrono::seconds period);

    std::shared_ptr<RouteColumns> columns_;
    Timestamp now_;
    /// By the parts of a request that the answer depends on.
    std::unordered_map<std::string, std::vector<std::size_t>> known_;
};

} // namespace fathom
