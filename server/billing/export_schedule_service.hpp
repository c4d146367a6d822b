#pragma once

#include "core/base/clock.hpp"
#include "server/api/caller.hpp"
#include "server/billing/export_destination.hpp"
#include "server/billing/export_schedule_store.hpp"
#include "server/store/database.hpp"

#include <functional>

namespace fathom::server {

/// What people do with schedules of billing exports. Thread-safe. All must outlive it.
class ExportScheduleService {
  public:
    ExportScheduleService(Database& database, ExportPlaces places, const Clock& clock)
        : database_(&database), places_(std::move(places)), clock_(&clock)
    {
    }

    /// What a schedule is to be; what is empty stays as it is when one is changed.
    struct Settings {
        std::optional<std::string> name{};
        std::optional<std::string> cron{}; ///< as parse_cron() reads it
        std::optional<std::string> format{};
        std::optional<std::string> months{};
        std::optional<Json> parameters{}; ///< texts by name
        std::optional<std::string> destination{};
        std::optional<bool> enabled{};
    };
    /// Whether the version that the caller saw may still be acted on (If-Match).
    using VersionCheck = std::function<bool(std::int64_t version)>;

    /// @param settings  with a name, a cron text, a format and a destination.
    /// @error kInvalid   the settings do not fit together, or this server does not write to the destination.
    /// @error kConflict  the name is taken.
    /// @error kTooMany   there are kMaxExportSchedules already.
    asio::awaitable<Result<ExportSchedule>> create(Caller caller, Settings settings);
    asio::awaitable<Result<Page<ExportSchedule>>> list(std::int64_t size, std::string after);
    /// `key` is an id or a name. @error kNotFound
    asio::awaitable<Result<ExportSchedule>> get(std::string key);
    /// Empty when `check` does not allow it. @error kNotFound; else as create().
    asio::awaitable<Result<std::optional<ExportSchedule>>> change(Caller caller, std::string key, Settings settings,
                                                                  VersionCheck check);
    /// False when `check` does not allow it. Files stay. @error kNotFound
    asio::awaitable<Result<bool>> remove(Caller caller, std::string key, VersionCheck check);
    /// Has it run at once: for the moment that is overdue, or else for now.
    /// @error kNotFound, kConflict  it is not enabled.
    asio::awaitable<Result<ExportSchedule>> run_now(Caller caller, std::string key);

  private:
    Result<void> check(const ExportSchedule& schedule) const;
    Result<ExportSchedule> create_in(pqxx::work& transaction, const Caller& caller, const Settings& settings) const;
    Result<std::optional<ExportSchedule>> change_in(pqxx::work& transaction, const Caller& caller,
                                                    const std::string& key, const Settings& settings,
                                                    const VersionCheck& check) const;
    Result<ExportSchedule> run_now_in(pqxx::work& transaction, const Caller& caller, const std::string& key) const;

    Database* database_;
    ExportPlaces places_;
    const Clock* clock_;
};

inline constexpr std::int64_t kMaxExportSchedules = 100;

} // namespace fathom::server
