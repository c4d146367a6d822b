#include "server/metering/metering_service.hpp"

#include "core/base/embedded_file.hpp"
#include "core/base/log.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <charconv>

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

/// `relative-v1@2`: id and version; without @, version 0.
struct PolicyName {
    std::string id;
    std::int64_t version{0};
};
std::optional<PolicyName> parse_policy_name(const std::string& text)
{
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos) return PolicyName{text, 0};
    PolicyName name{text.substr(0, at), 0};
    const char* const end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data() + at + 1, end, name.version);
    if (ec != std::errc{} || stop != end || name.version < 1) return std::nullopt;
    return name;
}

Result<PolicyRecord> find_policy(pqxx::transaction_base& transaction, const std::string& text)
{
    std::optional<PolicyRecord> record;
    if (text.empty())
        record = select_active_policy(transaction);
    else if (const auto name = parse_policy_name(text))
        record = select_policy(transaction, name->id, name->version);
    if (record) return std::move(*record);
    return Error{Errc::kInvalid, "the query has 1 error", {{"policy", "is not a metric policy, id or id@version"}}};
}

/// Adds a shipped policy unless its newest version says the same.
void seed_one(pqxx::transaction_base& transaction, MetricPolicy policy)
{
    const std::optional<PolicyRecord> newest = select_policy(transaction, policy.id, 0);
    if (newest && (same_content(newest->policy, policy) || newest->created_by != kActor)) return;
    policy.version = newest ? newest->policy.version + 1 : 1;
    insert_policy(transaction, policy, kActor);
    log_info("metric_policy_added", {{"policy", policy.id}, {"version", policy.version}});
    const std::optional<PolicyRecord> active = select_active_policy(transaction);
    const bool follows = !active || (active->policy.id == policy.id && active->created_by == kActor);
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
        MetricPolicy next = policy; // the transaction may run again
        const std::optional<PolicyRecord> newest = select_policy(transaction, next.id, 0);
        next.version = newest ? newest->policy.version + 1 : 1;
        insert_policy(transaction, next, caller.actor);
        audit(transaction, caller.actor, "metric_policy.create", next.id, caller.request_id,
              {{"version", next.version}});
        return select_policy(transaction, next.id, next.version).value();
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

asio::awaitable<Result<MeteringService::Scores>> MeteringService::scores(std::string policy, MeasurementFilter filter,
                                                                         std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Scores> {
        Result<PolicyRecord> record = find_policy(transaction, policy);
        if (!record) return record.error();
        Result<Page<MeasurementRecord>> measurements = select_measurements(transaction, filter, size, after);
        if (!measurements) return measurements.error();
        return Scores{std::move(record->policy), std::move(*measurements), judge_trust(select_residuals(transaction))};
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
