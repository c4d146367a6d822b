#pragma once

#include "core/decide/capacity/network_window.hpp"
#include "core/decide/prediction/load_curve.hpp"
#include "core/decide/prediction/scaling.hpp"
#include "core/decide/trust/trust.hpp"
#include "server/store/page.hpp"

#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Measurements of one thing over counts, over the week, and against jobs. All functions take the caller's
/// transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// A unit type as answers name it.
struct UnitTypeName {
    std::string center_id;
    std::string center;
    std::string unit_type_id;
    std::string unit_type;
};

/// One operator at one size on several counts, of each what its results say together (M19).
struct MeasuredCounts {
    UnitTypeName place;
    std::string operator_id;
    std::string parameters_key;
    Json parameters;
    std::vector<ScalingPoint> points; ///< at least two counts
    Timestamp measured_at{};          ///< of the newest
};

struct CurveFilter {
    std::string center;    ///< id or name; empty for all
    std::string unit_type; ///< id, or "center/unit_type"
    std::string operator_id;
};
/// By unit type, operator and size; `after` is opaque.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<MeasuredCounts>> select_measured_counts(pqxx::transaction_base& transaction, const CurveFilter& filter,
                                                    std::int64_t size, const std::string& after);

/// One operator on one unit of a type, beside different loads of its host, and in copies side by side
/// (docs/measurement.md "Neighbours").
struct MeasuredLoads {
    UnitTypeName place;
    std::string operator_id;
    std::vector<LoadedResult> results; ///< of the last 90 days
    std::vector<CopyResult> copies;    ///< of the last 90 days
    Timestamp measured_at{};           ///< of the newest
};
/// By unit type and operator; `after` is opaque. Those without two loads that differ by half a core, and without
/// copies, are left out.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<MeasuredLoads>> select_measured_loads(pqxx::transaction_base& transaction, const CurveFilter& filter,
                                                  std::int64_t size, const std::string& after);

/// The timed transfers of a unit type (M20), the newest 20 000 of the last eight weeks.
struct TimedTransfers {
    UnitTypeName place;
    std::vector<NetworkSample> samples; ///< by time
};
/// By unit type; `after` is a unit type's id. Unit types without any are left out.
Page<TimedTransfers> select_transfers(pqxx::transaction_base& transaction, const CurveFilter& filter, std::int64_t size,
                                      const std::string& after);

/// What jobs took against what their unit type's measurements alone let expect: the newest 5 000 of the last 90 days
/// that succeeded, moved no data, and all of whose operators had been measured there.
std::vector<RunResidual> select_residuals(pqxx::transaction_base& transaction);

/// Names of unit types by id, for what is computed over all of them.
std::vector<UnitTypeName> select_unit_type_names(pqxx::transaction_base& transaction);

Json to_json(const UnitTypeName& place);

} // namespace fathom::server
