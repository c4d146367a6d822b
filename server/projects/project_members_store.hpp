#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "server/identity/principal.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Rows of who may do what in a project. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

/// A token with rights in a project.
struct ProjectMember {
    std::string project;
    std::string token_id;
    std::string name; ///< of the token
    ProjectRole role{ProjectRole::kSubmitter};
    bool is_usable{true};        ///< neither revoked nor expired
    double reserve_unit_hours{}; ///< that its open reservations for the project may hold; 0: it may not reserve
    Timestamp added_at{};
    std::string added_by;
};

/// Tokens that work and have this id, or else this name.
std::vector<std::string> find_usable_tokens(pqxx::work& transaction, const std::string& id_or_name);
/// Makes sure that the project has settings, and locks them until the transaction ends: members change one by one.
void lock_project_of_members(pqxx::work& transaction, const std::string& project, const std::string& actor);
/// Adds a member, or changes its role and what it may reserve; when and by whom it was added stays.
void upsert_member(pqxx::work& transaction, const ProjectMember& member);
std::optional<ProjectMember> select_member(pqxx::work& transaction, const std::string& project,
                                           const std::string& token_id);
/// Members by the id of their token or, where none has it, by its name; also of tokens that do not work any more.
std::vector<ProjectMember> find_members(pqxx::work& transaction, const std::string& project,
                                        const std::string& id_or_name);
/// How many members may submit.
std::int64_t count_submitters(pqxx::work& transaction, const std::string& project);
void delete_member(pqxx::work& transaction, const std::string& project, const std::string& token_id);
/// By the id of the token; `after` is one.
Page<ProjectMember> select_members(pqxx::work& transaction, const std::string& project, std::int64_t size,
                                   const std::string& after);

Json to_json(const ProjectMember& member);

} // namespace fathom::server
