#include "server/centers/sessions/catalog_notices.hpp"

#include "core/base/log.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fathom::server {

CatalogNotices::CatalogNotices(Database& database, const asio::any_io_executor& executor,
                               std::chrono::milliseconds pause)
    : database_(&database), pause_(pause), timer_(executor)
{
}

CatalogNotice CatalogNotices::take()
{
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return CatalogNotice::kLater;
    next_ = now + pause_;
    return CatalogNotice::kNow;
}

void CatalogNotices::later()
{
    is_pending_ = true;
    timer_.cancel();
}

asio::awaitable<void> CatalogNotices::run(CenterId center)
{
    while (!has_ended_) {
        if (is_pending_ && std::chrono::steady_clock::now() >= next_) {
            co_await tell(&center);
            continue;
        }
        timer_.expires_at(is_pending_ ? next_ : asio::steady_timer::time_point::max());
        co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (is_pending_) co_await tell(&center);
}

void CatalogNotices::end()
{
    has_ended_ = true;
    timer_.cancel();
}

asio::awaitable<void> CatalogNotices::tell(const CenterId* center)
{
    is_pending_ = false;
    next_ = std::chrono::steady_clock::now() + pause_;
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        notify(transaction, "catalog", center->value);
        return {};
    };
    const Result<void> told = co_await database_->run(std::move(work));
    // Replicas read the catalog now and then without being told.
    if (!told) log_warning("catalog_notice_failed", {{"center_id", center->value}, {"error", describe(told.error())}});
}

} // namespace fathom::server
