#include "server/metering/metering_service.hpp"

#include "core/base/embedded_file.hpp"
#include "server/identity/audit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

namespace policy_files {
std::span<const EmbeddedFile> embedded_files(); // generated: cmake/FathomEmbed.cmake
} // namespace policy_files

namespace {

constexpr const char* kActor = "fathom";

bool same_content(MetricPolicy a, MetricPolicy b)
{
    a.version = b.version = 1;
    return to_json(a) == to_json(b);
}

/// The fields of a policy stand below `document` in requests.
void add_below_document(const std::vector<FieldError>& fields, std::vector<FieldError>& errors)
{
    for (const FieldError& field : fields)
        errors.push_back({"document." + field.field, field.detail});
}

/// Adds a shipped policy unless its newest version says the same.
void seed_one(pqxx::transaction_base& transaction, MetricPolicy policy)
{
    const std::optional<PolicyHead> newest = select_newest_head(transaction, policy.id);
    if (newest && newest->created_by != kActor) return;
    const std::optional<PolicyRecord> known = select_policy(transaction, policy.id, 0);
    if (known && same_content(known->policy, policy)) return;
    policy.version = newest ? newest->version + 1 : 1;
    insert_policy(transaction, policy, kActor);
    log_after_commit(LogLevel::kInfo, "metric_policy_added", {{"policy", policy.id}, {"version", policy.version}});
    const std::optional<PolicyHead> active = select_active_head(transaction);
    const bool follows = !active || (active->id == policy.id && active->created_by == kActor);
    if (follows) activate_policy(transaction, policy.id, policy.version);
}

} // namespace

std::vector<MetricPolicy> shipped_policies()
{
    std::vector<MetricPolicy> policies;
    for (const EmbeddedFile& file : policy_files::embedded_files()) {
        // Part of the program: a test reads each of them.
        policies.push_back(parse_metric_policy(parse_json(file.content).value()).value());
    }
    return policies;
}

Result<void> MeteringService::seed(const std::vector<MetricPolicy>& policies)
{
    auto work = [&policies](pqxx::work& transaction) -> Result<void> {
        lock_policies(transaction);
        for (const MetricPolicy& policy : policies)
            seed_one(transaction, policy);
        return {};
    };
    return database_->blocking_run(work);
}

asio::awaitable<Result<Page<PolicyRecord>>> MeteringService::list_policies(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<PolicyRecord>> {
        return select_policies(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<PolicyRecord>> MeteringService::get_policy(std::string id, std::int64_t version)
{
    auto work = [&](pqxx::work& transaction) -> Result<PolicyRecord> {
        std::optional<PolicyRecord> record = select_policy(transaction, id, version);
        if (!record) return Error{Errc::kNotFound, "no such metric policy or version"};
        return std::move(*record);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<PolicyRecord>> MeteringService::add_policy(Caller caller, MetricPolicy policy)
{
    auto work = [&](pqxx::work& transaction) -> Result<PolicyRecord> {
        lock_policies(transaction);
        const Result<MetricPolicy> next = check_new_policy(transaction, policy, *operators_->library());
        if (!next) return next.error();
        insert_policy(transaction, *next, caller.actor);
        audit(transaction, caller.actor, "metric_policy.create", next->id, caller.request_id,
              {{"version", next->version}});
        return select_policy(transaction, next->id, next->version).value();
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<PolicyRecord>> MeteringService::activate(Caller caller, std::string id, std::int64_t version)
{
    auto work = [&](pqxx::work& transaction) -> Result<PolicyRecord> {
        lock_policies(transaction);
        const std::optional<PolicyRecord> record = select_policy(transaction, id, version);
        if (!record) return Error{Errc::kNotFound, "no such metric policy or version"};
        if (record->active) return *record;
        activate_policy(transaction, id, record->policy.version);
        audit(transaction, caller.actor, "metric_policy.activate", id, caller.request_id,
              {{"version", record->policy.version}});
        notify(transaction, "catalog", "");
        return select_policy(transaction, id, record->policy.version).value();
    };
    co_return co_await database_->run(std::move(work));
}

Result<MetricPolicy> check_new_policy(pqxx::transaction_base& transaction, MetricPolicy policy,
                                      const OperatorLibrary& library)
{
    const std::optional<PolicyHead> newest = select_newest_head(transaction, policy.id);
    policy.version = newest ? newest->version + 1 : 1;
    std::vector<FieldError> errors;
    add_below_document(
        check_against_library(policy,
                              [&](std::string_view id, std::int64_t version) { return library.manifest(id, version); }),
        errors);
    Result<MetricPolicy> resolved = resolve_policy(policy, policy_lookup(transaction));
    if (!resolved) {
        const Error refusal = resolved.error();
        add_below_document(refusal.fields, errors);
        return value_or_errors(std::move(policy), std::move(errors), "the metric policy");
    }
    return value_or_errors(std::move(*resolved), std::move(errors), "the metric policy");
}

} // namespace fathom::server
