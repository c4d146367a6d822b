#pragma once

#include "core/base/result.hpp"
#include "server/app/postgres_folder.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// As an item of a list in PostgreSQL's settings and rules.
std::string quoted_item(const std::string& text);

/// Writes the rules by which the embedded PostgreSQL lets in who has entered the socket's folder: as the superuser only
/// root and PostgreSQL's own user, as the kernel says who they are; as the database's owner everybody. What stood in
/// the files is replaced.
/// @error kUnavailable  they cannot be written, or our user has no name.
Result<void> write_access_rules(const PostgresFolder& folder);

/// NAME=VALUE settings with which PostgreSQL reads these rules.
std::vector<std::string> access_settings(const PostgresFolder& folder);

/// As the superuser of the server that runs: makes PostgresRole::kOwner and the database where they are missing, and
/// gives that role the database and all that the superuser owns in it, as in a cluster of an earlier release. What
/// belongs to an extension stays the superuser's. Blocks.
/// @error kUnavailable  with what PostgreSQL said.
Result<void> prepare_database(const PostgresFolder& folder);

} // namespace fathom::server
