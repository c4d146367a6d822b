#include "server/events/event_ring.hpp"

#include <algorithm>

namespace fathom::server {

void EventRing::open(std::int64_t start)
{
    const std::scoped_lock lock(mutex_);
    events_.clear();
    floor_ = last_ = start;
    open_ = true;
}

void EventRing::close()
{
    const std::scoped_lock lock(mutex_);
    events_.clear();
    open_ = false;
}

void EventRing::push(LiveEvent event)
{
    auto shared = std::make_shared<const LiveEvent>(std::move(event));
    const std::scoped_lock lock(mutex_);
    last_ = shared->id;
    events_.push_back(std::move(shared));
    while (events_.size() > capacity_) {
        floor_ = events_.front()->id;
        events_.pop_front();
    }
}

EventRing::View EventRing::after(std::int64_t place, std::size_t limit) const
{
    const std::scoped_lock lock(mutex_);
    View view;
    view.floor = floor_;
    view.last = last_;
    if (!open_) return view;
    if (place < floor_) {
        view.kind = View::Kind::kBehind;
        return view;
    }
    view.kind = View::Kind::kLive;
    auto next = std::upper_bound(events_.begin(), events_.end(), place,
                                 [](std::int64_t id, const auto& event) { return id < event->id; });
    for (; next != events_.end() && view.events.size() < limit; ++next)
        view.events.push_back(*next);
    return view;
}

EventRing::View EventRing::ends() const
{
    const std::scoped_lock lock(mutex_);
    View view;
    view.kind = open_ ? View::Kind::kLive : View::Kind::kClosed;
    view.floor = floor_;
    view.last = last_;
    return view;
}

} // namespace fathom::server
