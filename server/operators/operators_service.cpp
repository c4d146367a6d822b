#include "server/operators/operators_service.hpp"

#include "core/base/log.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {
namespace {

/// Equal but for the version number, which the library gives.
bool same_content(OperatorManifest a, OperatorManifest b)
{
    a.version = b.version = 1;
    return to_json(a) == to_json(b);
}

/// Adds what is new; returns how many versions that were.
int add_new_versions(pqxx::transaction_base& transaction, const std::vector<OperatorManifest>& manifests)
{
    int added = 0;
    for (OperatorManifest manifest : manifests) {
        const std::optional<OperatorRecord> newest = select_operator(transaction, manifest.id, 0);
        if (newest && same_content(newest->manifest, manifest)) continue;
        // A manifest may name a version of its own, so that a release can leave numbers out.
        if (newest) manifest.version = std::max(manifest.version, newest->manifest.version + 1);
        insert_operator(transaction, manifest);
        log_info("operator_added", {{"operator", manifest.id}, {"version", manifest.version}});
        ++added;
    }
    return added;
}

} // namespace

OperatorsService::OperatorsService(Database& database)
    : database_(&database), library_(std::make_shared<const OperatorLibrary>())
{
}

Result<void> OperatorsService::seed(std::vector<OperatorManifest> manifests)
{
    auto work = [&manifests](pqxx::work& transaction) -> Result<OperatorLibrary> {
        lock_library(transaction);
        if (add_new_versions(transaction, manifests) > 0) {
            notify(transaction, "operators", "");
            notify(transaction, "catalog", "");
        }
        return select_library(transaction);
    };
    Result<OperatorLibrary> library = database_->blocking_run(work);
    if (!library) return library.error();
    replace(std::move(*library));
    return {};
}

OperatorLibraryPointer OperatorsService::library() const
{
    const std::scoped_lock lock(mutex_);
    return library_;
}

void OperatorsService::replace(OperatorLibrary library)
{
    auto fresh = std::make_shared<const OperatorLibrary>(std::move(library));
    const std::scoped_lock lock(mutex_);
    library_ = std::move(fresh);
}

asio::awaitable<void> OperatorsService::reload()
{
    auto work = [](pqxx::work& transaction) -> Result<OperatorLibrary> { return select_library(transaction); };
    Result<OperatorLibrary> library = co_await database_->run(std::move(work));
    if (library)
        replace(std::move(*library));
    else
        log_warning("operators_reload_failed", {{"error", describe(library.error())}});
}

void OperatorsService::subscribe(Notifier& notifier, net::TaskGroup& group, asio::any_io_executor executor)
{
    notifier.subscribe("operators", [this, &group, executor](const std::string&) {
        group.spawn(executor, "reload_operators", reload());
    });
}

asio::awaitable<Result<Page<OperatorRecord>>> OperatorsService::list(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<OperatorRecord>> {
        return select_operators(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<OperatorRecord>> OperatorsService::get(std::string id, std::int64_t version)
{
    auto work = [&](pqxx::work& transaction) -> Result<OperatorRecord> {
        std::optional<OperatorRecord> record = select_operator(transaction, id, version);
        if (!record) return Error{Errc::kNotFound, "no such operator or version"};
        return std::move(*record);
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
