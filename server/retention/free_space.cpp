#include "server/retention/free_space.hpp"

#include "core/base/log.hpp"

#include <sys/statvfs.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 5s;

} // namespace

std::optional<std::uint64_t> free_bytes_of(const std::filesystem::path& folder)
{
    struct statvfs facts{};
    if (statvfs(folder.c_str(), &facts) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

FreeSpace::FreeSpace(Look look, std::uint64_t least_bytes, Metrics& metrics)
    : look_(std::move(look)), least_bytes_(least_bytes), metrics_(&metrics)
{
}

void FreeSpace::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    if (!look_) return;
    look();
    group.keep_running(executor, "free_space", [this] { return follow(); });
}

asio::awaitable<void> FreeSpace::follow()
{
    for (;;) {
        co_await net::TaskGroup::sleep(kLookEvery);
        look();
    }
}

void FreeSpace::look()
{
    const std::optional<std::uint64_t> free = look_ ? look_() : std::nullopt;
    if (!free) return;
    metrics_->set("fathom_free_bytes", "Free on the disk of the embedded database.", static_cast<double>(*free));
    const bool low = *free < least_bytes_;
    if (is_low_.exchange(low) == low) return;
    if (low)
        log_error("disk_nearly_full", {{"free_bytes", *free}, {"least_bytes", least_bytes_}});
    else
        log_info("disk_has_room", {{"free_bytes", *free}});
}

Result<void> FreeSpace::check() const
{
    if (!is_low_) return {};
    return Error{Errc::kUnavailable, "the metascheduler's disk is nearly full: it takes no new jobs until there is "
                                     "room; those that it has go on"};
}

} // namespace fathom::server
