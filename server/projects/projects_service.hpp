#pragma once

#include "server/api/caller.hpp"
#include "server/projects/projects_store.hpp"
#include "server/store/database.hpp"

#include <functional>

namespace fathom::server {

/// Settings of projects. Thread-safe.
class ProjectsService {
  public:
    explicit ProjectsService(Database& database) : database_(&database) {}

    asio::awaitable<Result<Page<ProjectRecord>>> list(std::int64_t size, std::string after);
    /// @error kNotFound  it has the defaults.
    asio::awaitable<Result<ProjectRecord>> get(std::string name);

    /// Whether the version that the caller saw may still be replaced (If-Match); 0 for none.
    using VersionCheck = std::function<bool(std::int64_t version)>;
    /// Changes settings: sharing and quotas hold from the next decision on, the rest for jobs that are submitted from
    /// now on. Empty when the version check said no. @error kInvalid  centers that there are not.
    asio::awaitable<Result<std::optional<ProjectRecord>>> change(Caller caller, std::string name, ProjectChange change,
                                                                 VersionCheck check);

  private:
    Database* database_;
};

} // namespace fathom::server
