#pragma once

#include "core/base/clock.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/probing/job_type.hpp"
#include "server/metering/curves_store.hpp"
#include "server/store/page.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Measurements as scores are made from them. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// What was measured of one operator at one size on so many units of a type: one result, or several together, of which
/// all that `measured` has not is the newest's.
struct MeasurementRecord {
    std::string center_id;
    std::string center;
    std::string unit_type_id;
    std::string unit_type;
    MeasuredOperator measured;
    std::int64_t operator_version{1};
    Json parameters;
    std::int64_t unit_count{1};
    double spread{};
    std::int64_t sample_count{};
    std::int64_t outlier_count{};
    std::string precision;
    std::string library;
    std::string void_reason; ///< why it was found to be false after it was stored; empty: it was not
};

struct MeasurementFilter {
    std::string center;    ///< id or name; empty for all
    std::string unit_type; ///< id, or "center/unit_type"
    std::string operator_id;
};
/// The results of each together (combine_results): by center, unit type, operator, size, count; `after` is opaque. What
/// was found to be false, and what other versions of the operator did, does not count.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<MeasurementRecord>> select_measurements(pqxx::transaction_base& transaction,
                                                    const MeasurementFilter& filter, std::int64_t size,
                                                    const std::string& after);

/// Which measurements make the history of one operator on one unit type.
struct HistoryFilter {
    std::string unit_type{}; ///< id, or "center/unit_type"
    std::string operator_id{};
    std::optional<std::int64_t> version{}; ///< of the operator; none: as version_to_follow() says
    std::string parameters_key{};          ///< of the size; empty for all
    std::optional<std::int64_t> unit_count{};
    std::optional<Timestamp> since{};
    std::optional<Timestamp> until{}; ///< this moment is not in it
};
/// @param unit_type  its id, or center/unit_type; also one that is not offered any more
bool has_unit_type(pqxx::transaction_base& transaction, const std::string& unit_type);

/// The version of an operator whose history is told where none is named: the one in use, or of an operator that the
/// library lacks the newest that was measured. 0: there is none.
std::int64_t version_to_follow(pqxx::transaction_base& transaction, const std::string& operator_id);
/// All measurements of one version, also those that were found to be false; the newest first. `after` is opaque.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<MeasurementRecord>> select_history(pqxx::transaction_base& transaction, const HistoryFilter& filter,
                                               std::int64_t version, std::int64_t size, const std::string& after);

/// A unit type as the place of a score, for one of several names: categories, job types.
struct NamedPlace {
    std::string name;
    UnitTypeName place;
};
/// Every name with every active unit type of centers that are not revoked: by name, center, unit type.
/// `after` is opaque; only center and unit type of the filter are used.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<NamedPlace>> select_places(pqxx::transaction_base& transaction, std::span<const std::string> names,
                                       const MeasurementFilter& filter, std::int64_t size, const std::string& after);
/// The name that a page of select_places() goes on with; empty for the first page, or what is no key of it.
std::string name_to_go_on_with(const std::string& after);
/// How many unit types select_places() has for each name.
std::int64_t count_places(pqxx::transaction_base& transaction, const MeasurementFilter& filter);

/// The same of every operator and size on one unit, by unit type's id.
std::map<std::string, std::vector<MeasuredOperator>> select_unit_measurements(pqxx::transaction_base& transaction,
                                                                              std::span<const std::string> unit_types);

/// Operators that some unit type has been measured with.
std::set<std::string> select_measured_operators(pqxx::transaction_base& transaction);

/// How many active unit types can run each of these operators (M18).
std::map<std::string, std::int64_t> select_diversity(pqxx::transaction_base& transaction,
                                                     std::span<const std::string> operators);

/// What job types consist of, from the name `from` on, at most `most`; only the one of this name where `name` is not
/// empty.
std::map<std::string, OperatorMix> select_mixes(pqxx::transaction_base& transaction, const std::string& from,
                                                const std::string& name, std::int64_t most);

} // namespace fathom::server
