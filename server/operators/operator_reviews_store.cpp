#include "server/operators/operator_reviews_store.hpp"

#include "core/base/secret.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// What to_review() reads; the package itself is not among it.
constexpr const char* kColumns = R"sql(
    SELECT r.id, r.operator_id, r.operator_version, r.center_id, c.name AS center, r.key_id, r.manifest, r.object_sha256,
           r.object_bytes, r.state, r.submitted_at, r.submitted_by, r.decided_at,
           coalesce(r.decided_by, '') AS decided_by, r.reason
    FROM operator_review r JOIN center c ON c.id = r.center_id )sql";

const std::string kSelectReviews = std::string(kColumns) + "WHERE r.id > $1 ORDER BY r.id LIMIT $2";
const std::string kSelectReviewsOfState =
    std::string(kColumns) + "WHERE r.state = $3 AND r.id > $1 ORDER BY r.id LIMIT $2";
const std::string kSelectReview = std::string(kColumns) + "WHERE r.id = $1";
const std::string kLockReview = std::string(kColumns) + "WHERE r.id = $1 FOR UPDATE OF r";

constexpr const char* kSelectPackage = "SELECT package FROM operator_review WHERE id = $1 AND package IS NOT NULL";
constexpr const char* kSelectWaiting =
    "SELECT operator_version FROM operator_review WHERE operator_id = $1 AND state = 'awaiting_review'";
constexpr const char* kCountWaiting =
    "SELECT count(*) FROM operator_review WHERE center_id = $1 AND state = 'awaiting_review'";

constexpr const char* kInsertReview = R"sql(
    INSERT INTO operator_review (id, operator_id, operator_version, center_id, key_id, manifest, package, object_sha256,
                                 object_bytes, submitted_by)
    VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10))sql";

constexpr const char* kDecide = R"sql(
    UPDATE operator_review SET state = $2, decided_at = now(), decided_by = $3, reason = $4, package = NULL
    WHERE id = $1)sql";

constexpr const char* kDeleteOld = R"sql(
    DELETE FROM operator_review
    WHERE id IN (SELECT id FROM operator_review WHERE center_id = $1 AND state <> 'awaiting_review'
                 ORDER BY id DESC OFFSET $2))sql";

OperatorReview to_review(const pqxx::row& row)
{
    return {.id = row["id"].as<std::string>(),
            .operator_id = row["operator_id"].as<std::string>(),
            .operator_version = row["operator_version"].as<std::int64_t>(),
            .center_id = row["center_id"].as<std::string>(),
            .center = row["center"].as<std::string>(),
            .key_id = row["key_id"].as<std::string>(),
            .manifest = to_json_value(row["manifest"]),
            .object_sha256 = row["object_sha256"].as<std::string>(),
            .object_bytes = row["object_bytes"].as<std::int64_t>(),
            .state = row["state"].as<std::string>(),
            .submitted_at = to_timestamp(row["submitted_at"]),
            .submitted_by = row["submitted_by"].as<std::string>(),
            .decided_at = to_optional_timestamp(row["decided_at"]),
            .decided_by = row["decided_by"].as<std::string>(),
            .reason = row["reason"].as<std::string>()};
}

std::optional<OperatorReview> first_review(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_review(rows[0]);
}

} // namespace

Page<OperatorReview> select_operator_reviews(pqxx::transaction_base& transaction, const std::string& state,
                                             std::int64_t size, const std::string& after)
{
    const pqxx::result rows = state.empty() ? transaction.exec_params(kSelectReviews, after, size + 1)
                                            : transaction.exec_params(kSelectReviewsOfState, after, size + 1, state);
    std::vector<OperatorReview> reviews;
    for (const pqxx::row& row : rows)
        reviews.push_back(to_review(row));
    return cut_page(std::move(reviews), size, [](const OperatorReview& review) { return review.id; });
}

std::optional<OperatorReview> lock_operator_review(pqxx::transaction_base& transaction, const std::string& id)
{
    return first_review(transaction.exec_params(kLockReview, id));
}

std::optional<OperatorReview> select_operator_review(pqxx::transaction_base& transaction, const std::string& id)
{
    return first_review(transaction.exec_params(kSelectReview, id));
}

std::optional<std::string> select_review_package(pqxx::transaction_base& transaction, const std::string& id)
{
    const pqxx::result rows = transaction.exec_params(kSelectPackage, id);
    if (rows.empty()) return std::nullopt;
    return rows[0]["package"].as<std::string>();
}

std::optional<std::int64_t> select_waiting_version(pqxx::transaction_base& transaction, const std::string& operator_id)
{
    const pqxx::result rows = transaction.exec_params(kSelectWaiting, operator_id);
    if (rows.empty()) return std::nullopt;
    return rows[0]["operator_version"].as<std::int64_t>();
}

std::int64_t count_waiting_reviews(pqxx::transaction_base& transaction, const std::string& center_id)
{
    return transaction.exec_params1(kCountWaiting, center_id)[0].as<std::int64_t>();
}

void insert_operator_review(pqxx::transaction_base& transaction, const OperatorReview& review,
                            const OperatorPackage& package)
{
    transaction.exec_params(kInsertReview, review.id, package.manifest.id, package.manifest.version, review.center_id,
                            package.key_id, to_json(package.manifest).dump(), to_json(package).dump(),
                            sha256_hex(package.object), static_cast<std::int64_t>(package.object.size()),
                            review.submitted_by);
}

void update_to_decided(pqxx::transaction_base& transaction, const std::string& id, const std::string& state,
                       const std::string& decided_by, const std::string& reason)
{
    transaction.exec_params(kDecide, id, state, decided_by, reason);
}

void delete_old_reviews(pqxx::transaction_base& transaction, const std::string& center_id, std::int64_t keep)
{
    transaction.exec_params(kDeleteOld, center_id, keep);
}

Json to_json(const OperatorReview& review)
{
    return {{"id", review.id},
            {"operator", review.operator_id},
            {"version", review.operator_version},
            {"center", review.center},
            {"key_id", review.key_id},
            {"manifest", review.manifest},
            {"object_sha256", review.object_sha256},
            {"object_bytes", review.object_bytes},
            {"state", review.state},
            {"submitted_at", format_rfc3339(review.submitted_at)},
            {"submitted_by", review.submitted_by},
            {"decided_at", time_json(review.decided_at)},
            {"decided_by", text_or_null(review.decided_by)},
            {"reason", text_or_null(review.reason)}};
}

} // namespace fathom::server
