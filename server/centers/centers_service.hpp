#pragma once

#include "server/api/caller.hpp"
#include "server/centers/centers_store.hpp"
#include "server/store/database.hpp"

#include <functional>

namespace fathom::server {

/// Says whether a change may be made to a row of this version (If-Match).
using VersionRule = std::function<bool(std::int64_t version)>;

/// What people do with centers. Thread-safe. `database` must outlive it.
class CentersService {
  public:
    explicit CentersService(Database& database) : database_(&database) {}

    asio::awaitable<Result<Page<CenterRecord>>> list(std::int64_t size, std::string after);
    /// `key` is an id or a name. @error kNotFound
    asio::awaitable<Result<CenterRecord>> get(std::string key);

    /// A drained center gets no new work; what runs there goes on. A lower probe share stops no probe that is queued.
    /// Empty when `rule` does not allow it.
    /// @error kNotFound
    asio::awaitable<Result<std::optional<CenterRecord>>> change(Caller caller, std::string key, CenterChange change,
                                                                VersionRule rule);
    /// A quarantined center takes jobs again; another one stays as it is. @error kNotFound
    asio::awaitable<Result<CenterRecord>> release(Caller caller, std::string key);
    /// The center's certificate is worth nothing from now on; its session ends. Idempotent. @error kNotFound
    asio::awaitable<Result<CenterRecord>> revoke(Caller caller, std::string key);

    asio::awaitable<Result<Page<UnitTypeRecord>>> list_unit_types(std::string center, std::int64_t size,
                                                                  std::string after, UnitTypesWanted wanted);
    /// @error kNotFound
    asio::awaitable<Result<UnitTypeRecord>> get_unit_type(std::string id);

  private:
    Database* database_;
};

} // namespace fathom::server
