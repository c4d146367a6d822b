#pragma once

#include "server/api/caller.hpp"
#include "server/operators/operators_service.hpp"
#include "server/probing/schedules/schedule_store.hpp"
#include "server/store/database.hpp"

#include <functional>

namespace fathom::server {

/// What people do with schedules of probes (M21). Thread-safe. All must outlive it.
class ScheduleService {
  public:
    ScheduleService(Database& database, const OperatorsService& operators, const Clock& clock)
        : database_(&database), operators_(&operators), clock_(&clock)
    {
    }

    /// What a schedule is to be; what is empty stays as it is when one is changed.
    struct Settings {
        std::optional<std::string> name{};
        std::optional<std::string> cron{}; ///< as parse_cron() reads it
        std::optional<Json> order{};       ///< as parse_run_order() reads it
        std::optional<bool> enabled{};
    };
    /// Whether the version that the caller saw may still be acted on (If-Match).
    using VersionCheck = std::function<bool(std::int64_t version)>;

    /// @param settings  with a name, a cron text and an order.
    /// @error kInvalid   the order names an operator, version, parameter or probe task that is not there.
    /// @error kConflict  the name is taken.
    asio::awaitable<Result<ProbeSchedule>> create(Caller caller, Settings settings);
    asio::awaitable<Result<Page<ProbeSchedule>>> list(std::int64_t size, std::string after);
    /// `key` is an id or a name. @error kNotFound
    asio::awaitable<Result<ProbeSchedule>> get(std::string key);
    /// Empty when `check` does not allow it. @error kNotFound; else as create().
    asio::awaitable<Result<std::optional<ProbeSchedule>>> change(Caller caller, std::string key, Settings settings,
                                                                 VersionCheck check);
    /// False when `check` does not allow it. Probes that it queued go on. @error kNotFound
    asio::awaitable<Result<bool>> remove(Caller caller, std::string key, VersionCheck check);

  private:
    Result<void> check_order(pqxx::work& transaction, const Json& order) const;
    Result<ProbeSchedule> create_in(pqxx::work& transaction, const Caller& caller, const Settings& settings) const;
    Result<std::optional<ProbeSchedule>> change_in(pqxx::work& transaction, const Caller& caller,
                                                   const std::string& key, const Settings& settings,
                                                   const VersionCheck& check) const;

    Database* database_;
    const OperatorsService* operators_;
    const Clock* clock_;
};

} // namespace fathom::server
