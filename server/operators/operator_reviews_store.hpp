#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/model/operator_package.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// Rows of operators that centers have submitted. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

struct OperatorReview {
    std::string id;
    std::string operator_id;
    std::int64_t operator_version{};
    std::string center_id;
    std::string center; ///< its name
    std::string key_id;
    Json manifest;
    std::string object_sha256;
    std::int64_t object_bytes{};
    std::string state; ///< "awaiting_review", "approved" or "rejected"
    Timestamp submitted_at{};
    std::string submitted_by;
    std::optional<Timestamp> decided_at;
    std::string decided_by;
    std::string reason;

    bool is_waiting() const { return state == "awaiting_review"; }
};

/// By id, the oldest first; `after` is one. `state` empty: of all states.
Page<OperatorReview> select_operator_reviews(pqxx::transaction_base& transaction, const std::string& state,
                                             std::int64_t size, const std::string& after);
/// Nobody else decides on it until the transaction ends.
std::optional<OperatorReview> lock_operator_review(pqxx::transaction_base& transaction, const std::string& id);
std::optional<OperatorReview> select_operator_review(pqxx::transaction_base& transaction, const std::string& id);
/// The package as JSON text; empty of one that is decided on, or that is not there.
std::optional<std::string> select_review_package(pqxx::transaction_base& transaction, const std::string& id);
/// The version of an operator that waits; empty: none does.
std::optional<std::int64_t> select_waiting_version(pqxx::transaction_base& transaction, const std::string& operator_id);
std::int64_t count_waiting_reviews(pqxx::transaction_base& transaction, const std::string& center_id);

void insert_operator_review(pqxx::transaction_base& transaction, const OperatorReview& review,
                            const OperatorPackage& package);
/// Decides, and forgets the package.
void update_to_decided(pqxx::transaction_base& transaction, const std::string& id, const std::string& state,
                       const std::string& decided_by, const std::string& reason);
/// Removes all but the newest `keep` of a center's that are decided on.
void delete_old_reviews(pqxx::transaction_base& transaction, const std::string& center_id, std::int64_t keep);

Json to_json(const OperatorReview& review);

} // namespace fathom::server
