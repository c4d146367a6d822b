#include "server/operators/operator_reviews_service.hpp"

#include "server/identity/audit.hpp"
#include "server/operators/operator_keys_store.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxAwaitingReview = 20; ///< of a center: each may have a megabyte
constexpr std::int64_t kKeptDecided = 100;      ///< of a center

std::string review_name(const OperatorReview& review)
{
    return review.operator_id + " version " + std::to_string(review.operator_version);
}

/// What this transaction has just written.
OperatorReview stored_review(pqxx::work& transaction, const std::string& id)
{
    std::optional<OperatorReview> review = select_operator_review(transaction, id);
    FATHOM_ASSERT(review.has_value());
    return std::move(*review);
}

Result<OperatorReview> submit_package(pqxx::work& transaction, const Caller& caller, const OperatorPackage& package)
{
    lock_library(transaction);
    if (const Result<void> good = check_package(transaction, package); !good) return good.error();
    const std::string center = select_operator_key(transaction, package.key_id)->center_id;
    if (center.empty())
        return Error{Errc::kConflict, "key " + package.key_id +
                                          " is the network's, whose operators need no review: upload the package "
                                          "(`fathom operator upload`)"};
    if (const std::optional<std::int64_t> waiting = select_waiting_version(transaction, package.manifest.id))
        return Error{Errc::kConflict, "version " + std::to_string(*waiting) + " of " + package.manifest.id +
                                          " awaits review; the next one can be submitted after that"};
    if (count_waiting_reviews(transaction, center) >= kMaxAwaitingReview)
        return Error{Errc::kConflict,
                     std::to_string(kMaxAwaitingReview) + " operators of this center await review already"};
    delete_old_reviews(transaction, center, kKeptDecided);
    OperatorReview review;
    review.id = OperatorReviewId::make().value;
    review.center_id = center;
    review.submitted_by = caller.actor;
    insert_operator_review(transaction, review, package);
    review = stored_review(transaction, review.id);
    audit(transaction, caller.actor, "operator.submit", package.manifest.id, caller.request_id,
          {{"review_id", review.id},
           {"version", package.manifest.version},
           {"center", review.center},
           {"key_id", package.key_id},
           {"object_sha256", review.object_sha256}});
    return review;
}

/// One that waits, which nobody else decides on meanwhile.
Result<OperatorReview> waiting_review(pqxx::work& transaction, const std::string& id)
{
    std::optional<OperatorReview> review = lock_operator_review(transaction, id);
    if (!review) return Error{Errc::kNotFound, "no such operator review"};
    if (!review->is_waiting())
        return Error{Errc::kConflict, review_name(*review) + " is " + review->state + " already"};
    return std::move(*review);
}

Result<OperatorReview> approve_review(pqxx::work& transaction, const Caller& caller, const std::string& id)
{
    lock_library(transaction);
    const Result<OperatorReview> review = waiting_review(transaction, id);
    if (!review) return review.error();
    if (review->submitted_by == caller.actor)
        return Error{Errc::kForbidden, "you have submitted this: another admin must review it"};
    const std::optional<std::string> text = select_review_package(transaction, id);
    FATHOM_ASSERT(text.has_value());
    // The key may have been revoked, and the version taken, since it was submitted.
    const Result<OperatorPackage> package = parse_operator_package_text(*text);
    if (!package) return package.error();
    if (const Result<void> good = check_package(transaction, *package); !good) return good.error();
    insert_operator(transaction, package->manifest, "uploaded", review->submitted_by);
    insert_package(transaction, *package);
    update_to_decided(transaction, id, "approved", caller.actor, "");
    audit(transaction, caller.actor, "operator.approve", review->operator_id, caller.request_id,
          {{"review_id", id},
           {"version", review->operator_version},
           {"center", review->center},
           {"key_id", review->key_id},
           {"submitted_by", review->submitted_by},
           {"object_sha256", review->object_sha256}});
    wake_library_readers(transaction);
    return stored_review(transaction, id);
}

Result<OperatorReview> reject_review(pqxx::work& transaction, const Caller& caller, const std::string& id,
                                     const std::string& reason)
{
    const Result<OperatorReview> review = waiting_review(transaction, id);
    if (!review) return review.error();
    update_to_decided(transaction, id, "rejected", caller.actor, reason);
    audit(transaction, caller.actor, "operator.reject", review->operator_id, caller.request_id,
          {{"review_id", id},
           {"version", review->operator_version},
           {"center", review->center},
           {"submitted_by", review->submitted_by},
           {"reason", reason}});
    return stored_review(transaction, id);
}

} // namespace

asio::awaitable<Result<OperatorReview>> OperatorReviewsService::submit(Caller caller, OperatorPackage package)
{
    if (const Result<void> own = operators_->check_is_own(); !own) co_return own.error();
    auto work = [&](pqxx::work& transaction) { return submit_package(transaction, caller, package); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<OperatorReview>>> OperatorReviewsService::list(std::string state, std::int64_t size,
                                                                           std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<OperatorReview>> {
        return select_operator_reviews(transaction, state, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<std::string>> OperatorReviewsService::package(std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::string> {
        if (std::optional<std::string> text = select_review_package(transaction, id)) return std::move(*text);
        if (!select_operator_review(transaction, id)) return Error{Errc::kNotFound, "no such operator review"};
        return Error{Errc::kNotFound, "it is decided on: of an approved operator the library has the package"};
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<OperatorReview>> OperatorReviewsService::approve(Caller caller, std::string id)
{
    if (const Result<void> own = operators_->check_is_own(); !own) co_return own.error();
    auto work = [&](pqxx::work& transaction) { return approve_review(transaction, caller, id); };
    Result<OperatorReview> review = co_await database_->run(std::move(work));
    if (review) co_await operators_->reload();
    co_return review;
}

asio::awaitable<Result<OperatorReview>> OperatorReviewsService::reject(Caller caller, std::string id,
                                                                       std::string reason)
{
    auto work = [&](pqxx::work& transaction) { return reject_review(transaction, caller, id, reason); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
