#pragma once

#include "server/api/caller.hpp"
#include "server/jobs/project_members_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Who may submit to a project, and reserve for it. A project without members is open: whoever may submit jobs may
/// submit to it. Once it has one, only members and those who manage the network may. Thread-safe.
class ProjectMembersService {
  public:
    explicit ProjectMembersService(Database& database) : database_(&database) {}

    asio::awaitable<Result<Page<ProjectMember>>> list(std::string project, std::int64_t size, std::string after);

    /// Adds a member, or changes what it may reserve; a project without settings gets the defaults.
    /// @param who  id or name of a token that works.
    /// @error kInvalid  there is no such token.  kConflict  several have this name.
    asio::awaitable<Result<ProjectMember>> put(Caller caller, std::string project, std::string who,
                                               double reserve_unit_hours);

    /// What becomes of a project whose last member goes.
    enum class LastMember { kStays, kOpensProject };
    /// Jobs and reservations of the member stay. @return who it was.
    /// @error kNotFound  no such member.  kConflict  several have this name; or it is the last one, and it shall stay.
    asio::awaitable<Result<ProjectMember>> remove(Caller caller, std::string project, std::string who, LastMember last);

  private:
    Database* database_;
};

} // namespace fathom::server
