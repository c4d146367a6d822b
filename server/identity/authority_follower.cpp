#include "server/identity/authority_follower.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"

namespace fathom::server {
namespace {

constexpr std::chrono::seconds kFollowEvery{1};

} // namespace

AuthorityFollower::AuthorityFollower(Database& database, AuthorityKeyFile file, AuthorityHolder& holder, Take take)
    : database_(&database), file_(std::move(file)), holder_(&holder), take_(std::move(take))
{
}

void AuthorityFollower::subscribe(Notifier& notifier)
{
    notifier.subscribe("authority", [this](const std::string&) { is_stale_ = true; });
}

void AuthorityFollower::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "follow_authorities", [this] { return follow(); });
}

asio::awaitable<void> AuthorityFollower::follow()
{
    for (;;) {
        if (is_stale_.exchange(false)) {
            const Result<void> looked = look();
            if (!looked) {
                is_stale_ = true; // the next look tries again
                log_limited("authorities_not_read", {{"error", describe(looked.error())}});
            }
        }
        co_await net::TaskGroup::sleep(kFollowEvery);
    }
}

Result<void> AuthorityFollower::look()
{
    Result<NetworkAuthorities> read = load_authorities(*database_, file_);
    if (!read) return read.error();
    const AuthorityCertificates& fresh = read->certificates;
    const std::shared_ptr<const NetworkAuthorities> known = holder_->get();
    // The order tells which of them signs.
    if (known->certificates.sha256_hex() == fresh.sha256_hex() && known->certificates.phase() == fresh.phase())
        return {};
    if (Result<void> taken = take_(*read); !taken) return taken;
    log_info("authorities_changed", {{"phase", std::string(to_string(fresh.phase()))},
                                     {"signer_sha256", fresh.current.facts.sha256_hex},
                                     {"trusted_count", fresh.sha256_hex().size()}});
    holder_->set(std::move(*read));
    return {};
}

} // namespace fathom::server
