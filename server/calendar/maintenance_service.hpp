#pragma once

#include "server/api/caller.hpp"
#include "server/calendar/maintenance_store.hpp"
#include "server/store/database.hpp"

#include <vector>

namespace fathom::server {

/// When centers take no work. Jobs that run when a maintenance begins go on; new ones that could not end before it
/// start after it. Thread-safe. All must outlive it.
class MaintenanceService {
  public:
    explicit MaintenanceService(Database& database) : database_(&database) {}

    enum class Reservations {
        kRespect, ///< refuse when reservations lie in the way
        kCancel   ///< cancel those
    };
    struct Wanted {
        std::string center;    ///< id or name
        std::string unit_type; ///< id or name; empty: all of the center
        Period period;
        std::string reason;
        Reservations reservations{Reservations::kRespect};
    };
    struct Planned {
        MaintenanceWindow maintenance;
        std::vector<std::string> cancelled_reservations; ///< ids
    };
    /// @error kInvalid   no such center or unit type.
    /// @error kConflict  reservations lie in the way; `fields` name them.
    /// @error kTooMany   the center has very many already.
    asio::awaitable<Result<Planned>> plan(Caller caller, Wanted wanted);
    asio::awaitable<Result<Page<MaintenanceWindow>>> list(MaintenanceFilter filter, std::int64_t size,
                                                          std::string after);
    /// @error kNotFound
    asio::awaitable<Result<MaintenanceWindow>> get(std::string id);
    /// Ends it early, or calls it off; of one that is cancelled already nothing changes.
    /// @error kNotFound  @error kConflict  it has ended.
    asio::awaitable<Result<MaintenanceWindow>> cancel(Caller caller, std::string id);

  private:
    Database* database_;
};

} // namespace fathom::server
