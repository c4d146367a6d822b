#include "server/centers/silence_duty.hpp"

#include "core/base/log.hpp"
#include "core/net/task_group.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {
namespace {

constexpr std::int64_t kDutyLock = 0x5115'0001; // any number that no other duty uses

/// Looks that may fail in a row before silence counts anew.
constexpr int kMissedLooks = 3;

struct Look {
    Timestamp at{};
    Timestamp watched_since{};
    std::vector<SilentCenter> marked;
};

} // namespace

asio::awaitable<void> SilenceDuty::run()
{
    for (;;) {
        const Result<std::vector<SilentCenter>> marked = co_await look();
        if (!marked) log_warning("silence_duty_failed", {{"error", describe(marked.error())}});
        co_await net::TaskGroup::sleep(limits_.period);
    }
}

asio::awaitable<Result<std::vector<SilentCenter>>> SilenceDuty::look()
{
    auto work = [this](pqxx::work& transaction) -> Result<Look> {
        Look look{.at = database_now(transaction), .watched_since = {}, .marked = {}};
        const bool paused = !watched_since_ || look.at - last_look_ > kMissedLooks * limits_.period;
        look.watched_since = paused ? look.at : *watched_since_;
        if (!try_duty_lock(transaction, kDutyLock)) return look;
        look.marked = mark_silent_centers(transaction, look.watched_since, limits_.suspect_after, limits_.lost_after);
        for (const SilentCenter& center : look.marked)
            notify(transaction, "catalog", center.id.value);
        if (!look.marked.empty()) notify(transaction, "route", "");
        return look;
    };
    Result<Look> look = co_await database_->run(std::move(work));
    if (!look) co_return look.error();
    watched_since_ = look->watched_since;
    last_look_ = look->at;
    for (const SilentCenter& center : look->marked) {
        log_warning("center_silent", {{"center", center.name},
                                      {"center_id", center.id.value},
                                      {"state", center.state},
                                      {"silent_s", center.silent_s}});
    }
    co_return std::move(look->marked);
}

} // namespace fathom::server
