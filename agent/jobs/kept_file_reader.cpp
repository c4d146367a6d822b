#include "agent/jobs/kept_file_reader.hpp"

#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace fathom::agent {
namespace {

struct AskedQuery {
    link::KeptFileQuery query;
    KeptFileReader::SteadyTime asked_at;
};

link::KeptFilePiece refusal_of(const link::KeptFileQuery& query, Errc code, const std::string& reason)
{
    return {.query_id = query.query_id,
            .refusal = Error{code, std::string(utf8_prefix(reason, link::kMaxKeptRefusal))}};
}

link::KeptFilePiece piece_of(const link::KeptFileQuery& query, Result<std::string> data)
{
    if (!data) return refusal_of(query, data.error().code, data.error().detail);
    return {.query_id = query.query_id, .data = std::move(*data)};
}

} // namespace

struct KeptFileReader::State {
    State(KeptFileRead read_now, Tell tell_now, Limits limits_now)
        : read(std::move(read_now)), tell(std::move(tell_now)), limits(limits_now)
    {
    }

    void work();
    /// What follows is called with the mutex locked.
    void refuse(const link::KeptFileQuery& query, const std::string& reason)
    {
        tell(refusal_of(query, Errc::kUnavailable, reason));
    }
    std::string stands_still() const
    {
        return "its copies cannot be read now: their file system takes longer than " +
               std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limits.timeout).count()) + " s";
    }

    const KeptFileRead read;
    const Tell tell;
    const Limits limits;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<AskedQuery> waiting;
    std::optional<AskedQuery> current; ///< that is being read
    bool is_late = false;              ///< the current one, and it has been refused
    bool has_thread = false;
    bool is_over = false;
};

KeptFileReader::KeptFileReader(KeptFileRead read, Tell tell)
    : KeptFileReader(std::move(read), std::move(tell), Limits())
{
}

KeptFileReader::KeptFileReader(KeptFileRead read, Tell tell, Limits limits)
    : state_(std::make_shared<State>(std::move(read), std::move(tell), limits))
{
}

KeptFileReader::~KeptFileReader()
{
    const std::scoped_lock lock(state_->mutex);
    state_->is_over = true;
    state_->changed.notify_all();
}

void KeptFileReader::ask(link::KeptFileQuery query, SteadyTime now)
{
    const std::scoped_lock lock(state_->mutex);
    if (state_->is_late) return state_->refuse(query, state_->stands_still());
    if (state_->waiting.size() >= state_->limits.most_waiting)
        return state_->refuse(query, "too many pieces of kept files are asked for at once: ask again soon");
    state_->waiting.push_back({std::move(query), now});
    if (!std::exchange(state_->has_thread, true)) std::thread([state = state_] { state->work(); }).detach();
    state_->changed.notify_all();
}

void KeptFileReader::refuse_late(SteadyTime now)
{
    const std::scoped_lock lock(state_->mutex);
    const auto is_late = [&](const AskedQuery& asked) { return now - asked.asked_at >= state_->limits.timeout; };
    if (state_->current && !state_->is_late && is_late(*state_->current)) {
        state_->is_late = true;
        state_->refuse(state_->current->query, state_->stands_still());
        log_warning("kept_files_not_read",
                    {{"sha256", state_->current->query.sha256}, {"reason", state_->stands_still()}});
    }
    // Behind a read that does not come back nothing is read.
    while (!state_->waiting.empty() && (state_->is_late || is_late(state_->waiting.front()))) {
        state_->refuse(state_->waiting.front().query, state_->stands_still());
        state_->waiting.pop_front();
    }
}

void KeptFileReader::State::work()
{
    std::unique_lock lock(mutex);
    for (;;) {
        changed.wait(lock, [this] { return is_over || !waiting.empty(); });
        if (is_over) return;
        current = std::move(waiting.front());
        waiting.pop_front();
        const link::KeptFileQuery query = current->query;
        lock.unlock();
        Result<std::string> data = read(query.sha256, query.offset_bytes, static_cast<std::size_t>(query.most_bytes));
        lock.lock();
        if (is_over) return;
        if (is_late)
            log_info("kept_files_read_again");
        else
            tell(piece_of(query, std::move(data)));
        current.reset();
        is_late = false;
    }
}

} // namespace fathom::agent
