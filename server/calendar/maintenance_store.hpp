#pragma once

#include "core/base/id.hpp"
#include "server/calendar/period.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// Rows of maintenance windows. All functions take the caller's transaction, block, and let pqxx's exceptions through
/// to Database::run.
namespace fathom::server {

struct MaintenanceKind {
    static constexpr std::string_view kPrefix = "mnt";
};
using MaintenanceId = Id<MaintenanceKind>;

/// When a center, or one of its unit types, takes no work.
struct MaintenanceWindow {
    MaintenanceId id;
    std::string center_id;
    std::string center;
    std::string unit_type_id; ///< empty: all of the center
    std::string unit_type;    ///< empty: all of the center
    Period period;
    std::string reason;
    std::string state; ///< "planned", "active", "ended", "cancelled"
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> cancelled_at;
};

struct MaintenanceFilter {
    std::string center{};     ///< id or name
    bool is_open_only{false}; ///< neither ended nor cancelled
};

struct NewMaintenance {
    MaintenanceId id;
    std::string center_id;
    std::string unit_type_id; ///< empty: all of the center
    Period period;
    std::string reason;
    std::string created_by;
};
void insert_maintenance(pqxx::transaction_base& transaction, const NewMaintenance& maintenance);
/// Newest first; `after` is an id.
Page<MaintenanceWindow> select_maintenance_windows(pqxx::transaction_base& transaction, const MaintenanceFilter& filter,
                                                   std::int64_t size, const std::string& after);
std::optional<MaintenanceWindow> select_maintenance(pqxx::transaction_base& transaction, const std::string& id);
/// The same, and nobody else changes it until the transaction ends.
std::optional<MaintenanceWindow> lock_maintenance(pqxx::transaction_base& transaction, const std::string& id);
void update_to_cancelled(pqxx::transaction_base& transaction, const MaintenanceId& id);
/// Open ones of a center.
std::int64_t count_open_maintenance(pqxx::transaction_base& transaction, const std::string& center_id);

Json to_json(const MaintenanceWindow& maintenance);

} // namespace fathom::server
