#include "server/events/events_service.hpp"

#include "core/base/log.hpp"
#include "server/events/events_store.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/job_look.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kReadEvents = "job.read_events"; ///< in the audit log
constexpr std::size_t kRingEvents = 8192;
constexpr std::int64_t kPageEvents = 500;
/// Transactions are short; a number that is still missing then belongs to one that was rolled back.
constexpr auto kGapLimit = 1s;
constexpr auto kIdle = 1s;
constexpr auto kLookAtGapEvery = 50ms;
constexpr auto kLookEvery = 100ms;
/// So many numbers of events are looked through at once for those that a listener missed and may see. Where few are its
/// own, a full page could be further apart than all events that are kept, and a database thread would be busy with it.
constexpr std::int64_t kLookThrough = 20'000;
constexpr auto kBetweenLooks = 10ms;
/// Proxies drop connections that are silent for long.
constexpr auto kCommentEvery = 15s;

/// What one look found after the last event that was passed on.
struct NewEvents {
    std::vector<JobEventRecord> page;
    std::int64_t newest{}; ///< id of the newest of all
    bool is_full{};        ///< there may be more than the page
};

LiveEvent to_live(const JobEventRecord& event)
{
    LiveEvent live;
    live.id = event.id;
    live.job_id = event.job_id;
    live.owner = event.owner;
    live.project = event.project;
    live.frame = "id: " + std::to_string(event.id) + "\nevent: job\ndata: " + to_json(event).dump() + "\n\n";
    return live;
}

bool matches(const EventFilter& filter, const LiveEvent& event)
{
    return filter.scope.includes(event.owner, event.project) &&
           (filter.job_id.empty() || filter.job_id == event.job_id);
}

/// How far a listener has come that has seen this.
std::int64_t place_after(const EventRing::View& view, std::int64_t place)
{
    return view.events.empty() ? place : view.events.back()->id;
}

/// How long a listener waits that has nothing to write.
std::chrono::milliseconds pause_after(const EventRing::View& view)
{
    if (view.kind == EventRing::View::Kind::kBehind) return kBetweenLooks;
    return view.events.empty() ? std::chrono::milliseconds(kLookEvery) : 0ms;
}

/// What is sent of the events that match.
std::string frames_of(const EventRing::View& view, const EventFilter& filter)
{
    std::string text;
    for (const auto& event : view.events) {
        if (matches(filter, *event)) text += event->frame;
    }
    return text;
}

/// Counts a listener for as long as it lives.
class Listener {
  public:
    Listener(std::atomic<std::int64_t>& count, Metrics& metrics) : count_(&count), metrics_(&metrics) { change(1); }
    ~Listener() { change(-1); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

  private:
    void change(std::int64_t by)
    {
        const std::int64_t now = count_->fetch_add(by) + by;
        metrics_->set("fathom_event_listeners", "Clients on the event stream.", static_cast<double>(now));
    }

    std::atomic<std::int64_t>* count_;
    Metrics* metrics_;
};

} // namespace

EventsService::EventsService(Database& database, const asio::any_io_executor& executor, Metrics& metrics)
    : database_(&database), metrics_(&metrics), wake_(executor), ring_(kRingEvents), settled_(kGapLimit)
{
}

void EventsService::subscribe(Notifier& notifier)
{
    notifier.subscribe("event", [this](const std::string&) {
        if (listeners_.load() > 0) wake_.wake();
    });
}

void EventsService::start(net::TaskGroup& group)
{
    group.keep_running(wake_.executor(), "read_events", [this] { return read_events(); });
}

asio::awaitable<void> EventsService::read_events()
{
    for (;;) {
        const std::chrono::milliseconds pause = co_await read_once();
        if (pause > 0ms) co_await wake_.wait(pause);
    }
}

asio::awaitable<std::chrono::milliseconds> EventsService::read_once()
{
    EventRing::View ends = ring_.ends();
    if (listeners_.load() == 0) {
        ring_.close();
        settled_.forget();
        co_return std::chrono::milliseconds(kIdle);
    }
    if (ends.kind == EventRing::View::Kind::kClosed) {
        auto find_start = [](pqxx::work& transaction) -> Result<std::int64_t> {
            return select_safe_start(transaction);
        };
        const Result<std::int64_t> start = co_await database_->run(find_start);
        if (!start) co_return std::chrono::milliseconds(kIdle);
        ring_.open(*start);
        ends.last = *start;
    }
    auto read_page = [after = ends.last](pqxx::work& transaction) -> Result<NewEvents> {
        std::vector<JobEventRecord> page = select_job_events(transaction, after, kPageEvents, EventFilter{});
        const bool is_full = page.size() == static_cast<std::size_t>(kPageEvents);
        const std::int64_t newest = is_full ? select_newest_event(transaction) : page.empty() ? after : page.back().id;
        return NewEvents{std::move(page), newest, is_full};
    };
    // What is missing is judged by when this look began: what came since, while it was held up, it does not show.
    const auto began = std::chrono::steady_clock::now();
    const Result<NewEvents> found = co_await database_->run(read_page);
    if (!found) co_return std::chrono::milliseconds(kIdle);
    settled_.see(found->newest, std::chrono::steady_clock::now());
    const std::int64_t settled = settled_.settled(began);
    std::int64_t last = ends.last;
    for (const JobEventRecord& event : found->page) {
        if (event.id != last + 1 && event.id > settled) co_return std::chrono::milliseconds(kLookAtGapEvery);
        last = event.id;
        ring_.push(to_live(event));
    }
    co_return found->is_full ? 0ms : std::chrono::milliseconds(kIdle);
}

asio::awaitable<Result<void>> EventsService::note_reader(EventFilter filter, JobReader reader)
{
    if (!has_permission(reader.principal.role, Permission::kReadAllJobs)) co_return Result<void>();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (filter.job_id.empty())
            audit_once_an_hour(transaction, reader.principal.token_id.value, kReadEvents, "jobs", reader.request_id);
        else if (const std::optional<LookedAtJob> job = select_visible_job(transaction, filter))
            record_job_look(transaction, reader, kReadEvents, *job);
        return {};
    };
    co_return co_await database_->run(work);
}

asio::awaitable<Result<Page<JobEventRecord>>> EventsService::list(EventFilter filter, std::int64_t size,
                                                                  std::int64_t after, JobReader reader)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<JobEventRecord>> {
        const std::optional<LookedAtJob> job = select_visible_job(transaction, filter);
        if (!job) return Error{Errc::kNotFound, "there is no such job"};
        record_job_look(transaction, reader, kReadEvents, *job);
        return cut_page(select_job_events(transaction, after, size + 1, filter), size,
                        [](const JobEventRecord& event) { return std::to_string(event.id); });
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<std::optional<std::int64_t>> EventsService::first_place(std::shared_ptr<net::BodyWriter> writer)
{
    for (;;) {
        const EventRing::View ends = ring_.ends();
        if (ends.kind == EventRing::View::Kind::kLive) co_return ends.last;
        const Result<void> slept = co_await writer->sleep(20ms);
        if (!slept) co_return std::nullopt;
    }
}

asio::awaitable<Result<EventsService::Missed>> EventsService::read_missed(EventFilter filter, std::int64_t place,
                                                                          std::int64_t floor)
{
    const bool is_far = filter.job_id.empty() && floor - place > kLookThrough; // one job's events have an index
    filter.max_id = is_far ? place + kLookThrough : floor;
    auto read_page = [place, &filter](pqxx::work& transaction) -> Result<std::vector<JobEventRecord>> {
        return select_job_events(transaction, place, kPageEvents, filter);
    };
    const Result<std::vector<JobEventRecord>> page = co_await database_->run(read_page);
    if (!page) co_return page.error();
    Missed missed;
    missed.reached = page->size() == static_cast<std::size_t>(kPageEvents) ? page->back().id : filter.max_id;
    for (const JobEventRecord& event : *page)
        missed.text += to_live(event).frame;
    co_return missed;
}

asio::awaitable<void> EventsService::stream(EventFilter filter, std::optional<std::int64_t> resume_after,
                                            std::shared_ptr<net::BodyWriter> writer, TokenTurns turns)
{
    const Listener listener(listeners_, *metrics_);
    wake_.wake();
    // The place is taken before the first byte goes out: who has seen the answer begin misses nothing after it.
    const std::optional<std::int64_t> live_place = co_await first_place(writer);
    if (!live_place) co_return;
    std::int64_t place = resume_after.value_or(*live_place);
    Result<void> alive = co_await writer->write("retry: 1000\n\n");
    auto last_write = std::chrono::steady_clock::now();
    bool was_live = false;
    while (alive) {
        const EventRing::View view = ring_.after(place, 512);
        std::string text;
        if (view.kind == EventRing::View::Kind::kBehind) {
            // Too slow to follow: it may come again and resume.
            if (was_live) co_return;
            std::shared_ptr<const void> turn = co_await turns.take();
            Result<Missed> missed = co_await read_missed(filter, place, view.floor);
            turn.reset();
            if (!missed) co_return;
            text = std::move(missed->text);
            place = missed->reached;
        } else if (view.kind == EventRing::View::Kind::kLive) {
            was_live = true;
            place = place_after(view, place);
            text = frames_of(view, filter);
        }
        const auto now = std::chrono::steady_clock::now();
        if (text.empty() && now - last_write > kCommentEvery) text = ": alive\n\n";
        if (!text.empty()) {
            last_write = now;
            alive = co_await writer->write(std::move(text));
        } else if (const std::chrono::milliseconds pause = pause_after(view); pause > 0ms) {
            alive = co_await writer->sleep(pause);
        }
    }
}

} // namespace fathom::server
