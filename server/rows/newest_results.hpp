#pragma once

#include "core/decide/prediction/combine_results.hpp"
#include "server/rows/measured_operator.hpp"

#include <pqxx/pqxx>

#include <cstdint>
#include <span>
#include <vector>

/// The newest results of each place, which count together (M17): a place is an operator of one version at one size on
/// one count of units of a type. Whoever needs what is known of a place now selects by these and combines by
/// combine_rows(), so that scores, curves and predictions say the same.
///
/// These are texts of SQL for FROM clauses, made of the index measurement_newest: from place to place and from each
/// its newest results, however many it has. `unit_type` is the expression of a unit type's id.

/// SQL: the places of a unit type with results that were not found to be false, as unit_count, operator_id,
/// parameters_key, operator_version; of one operator, or of all where `operator_id` is ''. From a place of another
/// operator the next step is to the first of this one, at the same count or at the next.
#define FATHOM_MEASURED_PLACES(unit_type, operator_id)                                                                 \
    "(WITH RECURSIVE place AS ("                                                                                       \
    "(SELECT m.unit_count, m.operator_id, m.parameters_key, m.operator_version FROM measurement m "                    \
    "WHERE m.unit_type_id = " unit_type " AND m.void_reason = '' "                                                     \
    "ORDER BY m.unit_count, m.operator_id, m.parameters_key, m.operator_version LIMIT 1) "                             \
    "UNION ALL SELECT next.* FROM place p CROSS JOIN LATERAL ("                                                        \
    "SELECT m.unit_count, m.operator_id, m.parameters_key, m.operator_version FROM measurement m "                     \
    "WHERE m.unit_type_id = " unit_type " AND m.void_reason = '' "                                                     \
    "AND (m.unit_count, m.operator_id, m.parameters_key, m.operator_version) > ("                                      \
    "CASE WHEN " operator_id " <> '' AND p.operator_id > " operator_id                                                 \
    " THEN p.unit_count + 1 ELSE p.unit_count END, "                                                                   \
    "CASE WHEN " operator_id " = '' THEN p.operator_id ELSE " operator_id " END, "                                     \
    "CASE WHEN " operator_id " IN ('', p.operator_id) THEN p.parameters_key ELSE '' END, "                             \
    "CASE WHEN " operator_id " IN ('', p.operator_id) THEN p.operator_version ELSE 0 END) "                            \
    "ORDER BY m.unit_count, m.operator_id, m.parameters_key, m.operator_version LIMIT 1) next) "                       \
    "SELECT * FROM place WHERE " operator_id " IN ('', operator_id))"

/// SQL: whether a `place` (its name in the statement) is of the version that is in use; of an operator that the library
/// lacks, of the newest version that was measured there.
#define FATHOM_IS_IN_USE(unit_type, place)                                                                             \
    place ".operator_version = coalesce("                                                                              \
          "(SELECT v.version FROM operator_in_use v WHERE v.id = " place ".operator_id), "                             \
          "(SELECT max(m.operator_version) FROM measurement m WHERE m.unit_type_id = " unit_type " "                   \
          "AND m.unit_count = " place ".unit_count AND m.operator_id = " place ".operator_id "                         \
          "AND m.parameters_key = " place ".parameters_key AND m.void_reason = ''))"

/// SQL: the rows of table measurement of one `place`, at most `most`, each with its `newness`, from 1.
#define FATHOM_NEWEST_RESULTS(unit_type, place, most)                                                                  \
    "(SELECT m.*, row_number() OVER (ORDER BY m.measured_at DESC, m.probe_run_id) AS newness FROM measurement m "      \
    "WHERE m.unit_type_id = " unit_type " AND m.unit_count = " place ".unit_count "                                    \
    "AND m.operator_id = " place ".operator_id AND m.parameters_key = " place ".parameters_key "                       \
    "AND m.operator_version = " place ".operator_version AND m.void_reason = '' "                                      \
    "ORDER BY m.measured_at DESC, m.probe_run_id LIMIT " most ")"

namespace fathom::server {

/// Calls `use` for each place with its rows, the newest first.
/// @param rows  each place's in one piece, in order of `newness`.
template <class Use>
void for_each_place(const pqxx::result& rows, Use use)
{
    std::vector<pqxx::row> place;
    for (const pqxx::row& row : rows) {
        if (!place.empty() && row["newness"].as<std::int64_t>() == 1) {
            use(std::span<const pqxx::row>(place));
            place.clear();
        }
        place.push_back(row);
    }
    if (!place.empty()) use(std::span<const pqxx::row>(place));
}

/// What the results of one place say together.
/// @param newest_first  not empty.
inline MeasuredOperator combine_rows(std::span<const pqxx::row> newest_first)
{
    std::vector<MeasuredOperator> results;
    for (const pqxx::row& row : newest_first)
        results.push_back(to_measured_operator(row));
    return combine_results(results);
}

} // namespace fathom::server
