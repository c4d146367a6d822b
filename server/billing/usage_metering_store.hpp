#pragma once

#include "server/store/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Makes rows of usage_record of what was used; server/billing/usage_store.hpp reads them. All functions take the
/// caller's transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// What is known of a unit type at the moment of metering.
struct MeteredUnitType {
    std::string unit_type_id;
    std::int64_t score_milli{};
    std::string evidence_id;
    std::string evidence; ///< JSON text
    double power_w{};     ///< of a busy unit; 0: not known
};

/// So that usage comes in the order of its ids: whoever meters waits for who does, until the transaction ends.
void lock_metering(pqxx::work& transaction);
/// Unit types of ended attempts that are to be metered.
std::vector<std::string> select_unmetered_unit_types(pqxx::work& transaction, std::int64_t most_attempts);
void insert_evidence(pqxx::work& transaction, const std::vector<MeteredUnitType>& unit_types);
/// What a unit type scored when it was last metered; without its power.
std::optional<MeteredUnitType> select_last_evidence(pqxx::work& transaction, const std::string& unit_type_id);
/// Meters ended attempts on these unit types, each once. @return how many.
std::int64_t meter_attempts(pqxx::work& transaction, const std::vector<MeteredUnitType>& unit_types,
                            std::int64_t most_attempts);
/// Meters anew what centers reported after it had been given up. @return how many.
std::int64_t meter_late_ends(pqxx::work& transaction);
/// Meters what projects had stored in the whole hours that have passed since the last time. @return records.
std::int64_t meter_storage(pqxx::work& transaction);
/// Meters reservations that have ended. @return how many.
std::int64_t meter_reservations(pqxx::work& transaction);

} // namespace fathom::server
