#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom::server {

/// One event, rendered once for all who listen.
struct LiveEvent {
    std::int64_t id{};
    std::string job_id;
    std::string owner;
    std::string project;
    std::string frame; ///< the server-sent event, with its closing empty line
};

/// The newest events of this replica, shared by all listeners: each keeps only its place, so a listener costs
/// no memory however slow it is. Thread-safe.
class EventRing {
  public:
    explicit EventRing(std::size_t capacity) : capacity_(capacity) {}

    /// From here on the ring holds every event after `start`.
    void open(std::int64_t start);
    /// Nobody listens: forget everything.
    void close();
    /// Ids must ascend.
    void push(LiveEvent event);

    /// What a listener finds after its place.
    struct View {
        enum class Kind {
            kClosed, ///< not open (yet)
            kBehind, ///< events between `after` and `floor` are no longer here
            kLive,
        } kind = Kind::kClosed;
        std::int64_t floor{};
        std::int64_t last{};
        std::vector<std::shared_ptr<const LiveEvent>> events; ///< ascending
    };
    View after(std::int64_t place, std::size_t limit) const;
    /// The newest id, and whether the ring is open.
    View ends() const;

  private:
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::deque<std::shared_ptr<const LiveEvent>> events_;
    bool open_ = false;
    std::int64_t floor_ = 0; ///< events up to here are not in the ring
    std::int64_t last_ = 0;
};

} // namespace fathom::server
