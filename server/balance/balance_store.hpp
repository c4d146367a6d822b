#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/balance_step.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/page.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pqxx {
class transaction_base;
}

/// What is kept of balance loops. All functions take the caller's transaction, block, and let pqxx's exceptions through
/// to Database::run.
namespace fathom::server {

/// Which unit.
struct BalancedUnitKey {
    std::string center; ///< id or name
    std::string unit;
};

/// Where a unit's steps are.
struct BalancedUnitRow {
    std::int64_t id{};
    std::int64_t last_number{};
};

/// A step that is kept.
struct BalanceStepRecord {
    std::int64_t number{};
    Timestamp at{};
    std::string job_id; ///< empty: of another owner, no longer kept, or none
    Json step;          ///< without what stands above
};
Json to_json(const BalanceStepRecord& record);

/// A unit and its newest step.
struct BalancedUnitRecord {
    std::string center;
    std::string center_id;
    std::string unit;
    Timestamp told_at{};
    std::int64_t dropped_count{};
    std::optional<BalanceStepRecord> last;
};
Json to_json(const BalancedUnitRecord& record);

/// Whether the session is the center's newest, and the center not revoked.
bool is_balance_session(pqxx::transaction_base& transaction, const CenterId& center, std::int64_t epoch);

/// How much is kept.
struct BalanceLimits {
    std::int64_t steps_of_unit = 20'000;
    std::int64_t units_of_center = 1000; ///< as many as an agent's settings may name
};
/// Adds steps of one unit; those of a time that is there already are left out, and the oldest make room.
/// @return false when the center has as many units as it may: nothing was added.
bool insert_balance_steps(pqxx::transaction_base& transaction, const CenterId& center, const std::string& unit,
                          std::span<const BalanceStep> steps, std::int64_t dropped_count, const BalanceLimits& limits);

std::optional<BalancedUnitRow> find_balanced_unit(pqxx::transaction_base& transaction, const BalancedUnitKey& key);

/// Steps before a number, the newest first, none older than `since`. `scope`: jobs that are named.
Page<BalanceStepRecord> select_balance_history(pqxx::transaction_base& transaction, std::int64_t unit_id,
                                               std::optional<Timestamp> since, std::int64_t before, std::int64_t size,
                                               const JobScope& scope);
/// Steps after a number, the oldest first.
std::vector<BalanceStepRecord> select_balance_steps(pqxx::transaction_base& transaction, std::int64_t unit_id,
                                                    std::int64_t after, std::int64_t limit, const JobScope& scope);

/// By center and name. `center`: id or name; empty: of all.
Page<BalancedUnitRecord> select_balanced_units(pqxx::transaction_base& transaction, const std::string& center,
                                               std::int64_t size, const std::string& after, const JobScope& scope);

} // namespace fathom::server
