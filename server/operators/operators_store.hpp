#pragma once

#include "server/operators/operator_library.hpp"
#include "server/store/page.hpp"

#include <optional>

namespace pqxx {
class transaction_base;
}

/// Rows of operators. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

using OperatorRecord = OperatorLibrary::Version;

/// The newest version of each operator, by id; `after` is an id.
Page<OperatorRecord> select_operators(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after);
/// `version` 0: the newest.
std::optional<OperatorRecord> select_operator(pqxx::transaction_base& transaction, const std::string& id,
                                              std::int64_t version);
OperatorLibrary select_library(pqxx::transaction_base& transaction);

/// Adds a version; one that is there already, from another replica's start, stays as it is.
void insert_operator(pqxx::transaction_base& transaction, const OperatorManifest& manifest);

/// Two replicas that start at once fill the library one after the other.
void lock_library(pqxx::transaction_base& transaction);

Json to_json(const OperatorRecord& record);

} // namespace fathom::server
