#include "server/operators/operators_service.hpp"

#include "core/base/log.hpp"
#include "server/operators/match_library.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {
namespace {

Error changed_elsewhere(const std::string& url)
{
    return {Errc::kConflict, "this library is a copy of that of " + url + ": change it there"};
}

} // namespace

OperatorsService::OperatorsService(Database& database)
    : database_(&database), library_(std::make_shared<const OperatorLibrary>()),
      match_library_(std::make_shared<const link::MatchLibrary>(make_match_library(*library_).library))
{
}

OperatorsService::OperatorsService(Database& database, ProbeRunTerminator& runs) : OperatorsService(database)
{
    runs_ = &runs;
}

Result<void> OperatorsService::seed(std::vector<OperatorManifest> manifests)
{
    const std::uint64_t read = start_read();
    auto work = [&manifests](pqxx::work& transaction) -> Result<OperatorLibrary> {
        add_release(transaction, manifests);
        return select_library(transaction);
    };
    Result<OperatorLibrary> library = database_->blocking_run(work);
    if (!library) return library.error();
    replace(std::move(*library), read);
    return {};
}

OperatorLibraryPointer OperatorsService::library() const
{
    const std::scoped_lock lock(mutex_);
    return library_;
}

std::shared_ptr<const link::MatchLibrary> OperatorsService::match_library() const
{
    const std::scoped_lock lock(mutex_);
    return match_library_;
}

std::uint64_t OperatorsService::start_read()
{
    const std::scoped_lock lock(mutex_);
    return ++started_reads_;
}

void OperatorsService::replace(OperatorLibrary library, std::uint64_t read)
{
    auto fresh = std::make_shared<const OperatorLibrary>(std::move(library));
    MatchLibraryPart part = make_match_library(*fresh);
    {
        const std::scoped_lock lock(mutex_);
        if (read <= current_read_) return;
        current_read_ = read;
        library_ = std::move(fresh);
        if (match_library_->digest == part.library.digest) return;
        match_library_ = std::make_shared<const link::MatchLibrary>(std::move(part.library));
    }
    if (part.left_out > 0)
        log_warning("match_library_cut", {{"left_out", part.left_out},
                                          {"effect", "calls of profiled jobs are not matched with these operators"}});
    if (on_match_library) on_match_library();
}

asio::awaitable<void> OperatorsService::reload()
{
    const std::uint64_t read = start_read();
    auto work = [](pqxx::work& transaction) -> Result<OperatorLibrary> { return select_library(transaction); };
    Result<OperatorLibrary> library = co_await database_->run(std::move(work));
    if (library)
        replace(std::move(*library), read);
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

asio::awaitable<Result<Page<OperatorRecord>>> OperatorsService::list_versions(std::string id, std::int64_t size,
                                                                              std::int64_t after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<OperatorRecord>> {
        Page<OperatorRecord> versions = select_versions(transaction, id, size, after);
        if (versions.items.empty() && after == 0) return Error{Errc::kNotFound, "no such operator"};
        return versions;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<std::string>> OperatorsService::package(std::string id, std::int64_t version)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::string> {
        if (std::optional<std::string> package = select_package(transaction, id, version)) return std::move(*package);
        if (!select_operator(transaction, id, version)) return Error{Errc::kNotFound, "no such operator or version"};
        return Error{Errc::kNotFound, "this version has no package: its code is built into Fathom's programs"};
    };
    co_return co_await database_->run(std::move(work));
}

Result<void> OperatorsService::check_is_own() const
{
    if (!copied_from_.empty()) return changed_elsewhere(copied_from_);
    return {};
}

asio::awaitable<Result<OperatorRecord>> OperatorsService::add(Caller caller, OperatorOrder order)
{
    if (const Result<void> own = check_is_own(); !own) co_return own.error();
    auto work = [&](pqxx::work& transaction) { return add_operator(transaction, caller, order); };
    Result<OperatorRecord> record = co_await database_->run(std::move(work));
    if (record) co_await reload();
    co_return record;
}

asio::awaitable<Result<std::optional<OperatorRecord>>>
OperatorsService::change(Caller caller, std::string id, OperatorOrder order, OperatorVersionRule rule)
{
    if (const Result<void> own = check_is_own(); !own) co_return own.error();
    auto work = [&](pqxx::work& transaction) { return change_operator(transaction, caller, id, order, rule); };
    Result<std::optional<OperatorRecord>> record = co_await database_->run(std::move(work));
    if (record) co_await reload();
    co_return record;
}

asio::awaitable<Result<void>> OperatorsService::withdraw(Caller caller, std::string id, std::int64_t version)
{
    auto work = [&](pqxx::work& transaction) { return withdraw_operator(transaction, caller, id, version, runs_); };
    Result<void> done = co_await database_->run(std::move(work));
    if (done) co_await reload();
    co_return done;
}

} // namespace fathom::server
