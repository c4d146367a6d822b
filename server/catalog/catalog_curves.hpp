#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <map>
#include <string>
#include <tuple>

namespace fathom::server {

/// Makes scaling curves of measurements while a catalog is read, for its unit types. Curves whose points are those of
/// the previous catalog are taken from there: fitting is what costs. Not thread-safe.
class CatalogCurves {
  public:
    /// What was measured of an operator and size on `unit_count` units of the type at this index.
    void add(std::size_t unit_type, const MeasuredOperator& measured, std::int64_t unit_count);
    /// Sets `speedups` of every unit type with an operator that was measured on two counts or more.
    /// @param previous  may be empty.
    void finish(CatalogSnapshot& catalog, const CatalogSnapshot& previous) const;

  private:
    struct Points {
        double work{};
        std::vector<ScalingPoint> points;
    };
    std::map<std::tuple<std::size_t, std::string, std::string>, Points> by_size_; ///< unit type, operator, size
};

} // namespace fathom::server
