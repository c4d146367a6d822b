#pragma once

#include "server/api/caller.hpp"
#include "server/projects/project_members_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Who may do what in a project (ProjectRole), and reserve for it. A project that has neither submitters nor leads is
/// open: whoever may submit jobs may submit to it. Once it has one, only they and those who manage the network may.
/// Thread-safe.
class ProjectMembersService {
  public:
    explicit ProjectMembersService(Database& database) : database_(&database) {}

    /// In which role the caller changes members. Leads of a project add viewers and submitters; only those who manage
    /// the network name leads and set what may be reserved.
    enum class By { kNetwork, kLead };
    struct Change {
        ProjectRole role{ProjectRole::kSubmitter};
        /// Empty: 0, or what it is, when a lead asks.
        std::optional<double> reserve_unit_hours{};
    };

    asio::awaitable<Result<Page<ProjectMember>>> list(std::string project, std::int64_t size, std::string after);

    /// Adds a member, or changes what it may do; a project without settings gets the defaults.
    /// @param who  id or name of a token that works.
    /// @error kInvalid  there is no such token.  kConflict  several have this name; or it is the last one who may
    ///                  submit, and shall be a viewer.  kForbidden  that is not for leads.
    asio::awaitable<Result<ProjectMember>> put(Caller caller, By by, std::string project, std::string who,
                                               Change change);

    /// What happens when the last submitter of a project is removed.
    enum class LastMember { kStays, kOpensProject };
    /// Jobs and reservations of the member stay. @return who it was.
    /// @error kNotFound  no such member.  kConflict  several have this name; or it is the last one who may submit, and
    ///                   that one shall stay.  kForbidden  that is not for leads.
    asio::awaitable<Result<ProjectMember>> remove(Caller caller, By by, std::string project, std::string who,
                                                  LastMember last);

  private:
    Database* database_;
};

} // namespace fathom::server
