#pragma once

#include "core/model/operator_package.hpp"
#include "server/operators/operator_library.hpp"
#include "server/store/page.hpp"

#include <optional>

namespace pqxx {
class transaction_base;
}

/// Rows of operators and their packages. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

using OperatorRecord = OperatorLibrary::Version;

/// The version in use of each operator, by id; `after` is an id. In use is the newest that is not withdrawn; when all
/// are, the newest.
Page<OperatorRecord> select_operators(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after);
/// The versions of one operator, newest first; `after` is a version, 0 for the first page.
Page<OperatorRecord> select_versions(pqxx::transaction_base& transaction, const std::string& id, std::int64_t size,
                                     std::int64_t after);
/// `version` 0: the one in use.
std::optional<OperatorRecord> select_operator(pqxx::transaction_base& transaction, const std::string& id,
                                              std::int64_t version);
/// The highest number that a version has, withdrawn or not; 0 for an unknown operator.
std::int64_t select_last_version(pqxx::transaction_base& transaction, const std::string& id);
/// The newest version that came with a release.
std::optional<OperatorRecord> select_built_in(pqxx::transaction_base& transaction, const std::string& id);
OperatorLibrary select_library(pqxx::transaction_base& transaction);

/// Adds a version; the library must be locked.
void insert_operator(pqxx::transaction_base& transaction, const OperatorManifest& manifest, const std::string& origin,
                     const std::string& created_by);
/// Adds the code of a version that insert_operator() has added.
void insert_package(pqxx::transaction_base& transaction, const OperatorPackage& package);
/// The package of an uploaded version as JSON text; empty for others.
std::optional<std::string> select_package(pqxx::transaction_base& transaction, const std::string& id,
                                          std::int64_t version);
/// Whether a version is withdrawn. A withdrawal waits from here on until the transaction ends, so that it knows what
/// the transaction has made of the version.
bool lock_withdrawal(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version);
/// Withdraws once.
void update_to_withdrawn(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version,
                         const std::string& withdrawn_by);

/// Version numbers are given one after the other: until the end of the transaction nobody else adds one.
void lock_library(pqxx::transaction_base& transaction);

Json to_json(const OperatorRecord& record);

} // namespace fathom::server
