#include "server/billing/export_slots.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace fathom::server {
namespace {

Error too_many_exports(const std::string& whose, std::size_t has)
{
    return {Errc::kTooMany, whose + " has " + std::to_string(has) + (has == 1 ? " export" : " exports") +
                                " under way already: ask again when one of them has ended"};
}

} // namespace

struct ExportSlots::State {
    State(ExportLimits limits_of_all, Metrics& metrics_of_all) : limits(limits_of_all), metrics(&metrics_of_all) {}

    // With the mutex held.
    std::size_t count_token(const std::string& token_id) const
    {
        return count([&](const ExportReader& reader) { return reader.token_id == token_id; });
    }
    std::size_t count_project(const std::string& project) const
    {
        if (project.empty()) return 0;
        return count([&](const ExportReader& reader) { return reader.project == project; });
    }
    bool make_room();
    void cut_off(ExportSlot& place, const char* reason, std::string detail) const;

    const ExportLimits limits;
    Metrics* const metrics;
    std::mutex mutex;
    std::set<ExportSlot*> places; ///< a handful; each takes itself out when it goes

  private:
    template <class Condition>
    std::size_t count(Condition condition) const
    {
        return static_cast<std::size_t>(std::count_if(
            places.begin(), places.end(), [&](const ExportSlot* place) { return condition(place->reader_); }));
    }
};

/// The slowest one that is known to be slow gives way. It ends with the piece that it writes: until then, for the
/// connection's time to write at most, there is one more than there may be.
bool ExportSlots::State::make_room()
{
    ExportSlot* slowest = nullptr;
    for (ExportSlot* place : places) {
        const std::optional<double> pace = place->pace_.last();
        if (!pace || *pace >= limits.min_contended_bytes_per_s) continue;
        if (slowest == nullptr || *pace < *slowest->pace_.last()) slowest = place;
    }
    if (slowest == nullptr) return false;
    slowest->has_given_way_ = true;
    places.erase(slowest);
    return true;
}

void ExportSlots::State::cut_off(ExportSlot& place, const char* reason, std::string detail) const
{
    place.cut_off_ = std::move(detail);
    metrics->count("fathom_exports_cut_off_total", "Exports of billing that were cut off because of their readers.",
                   {{"reason", reason}});
}

ExportSlots::ExportSlots(ExportLimits limits, Metrics& metrics) : state_(std::make_shared<State>(limits, metrics)) {}

Result<std::shared_ptr<ExportSlot>> ExportSlots::take(const ExportReader& reader)
{
    // Its destructor locks: it is made before the lock, and outlives it where there is no place.
    auto place = std::make_shared<ExportSlot>(state_, reader);
    const ExportLimits& limits = state_->limits;
    const std::scoped_lock lock(state_->mutex);
    const std::size_t under_way = state_->places.size();
    const std::size_t of_token = state_->count_token(reader.token_id);
    const std::size_t of_project = state_->count_project(reader.project);
    const bool only_one = under_way >= limits.for_seconds;
    if (of_token >= limits.of_token || (only_one && of_token > 0)) return too_many_exports("this token", of_token);
    if (of_project >= limits.of_project || (only_one && of_project > 0))
        return too_many_exports("this project", of_project);
    if (under_way >= limits.all && !state_->make_room()) return too_many_exports("this server", under_way);
    state_->places.insert(place.get());
    return place;
}

ExportSlot::ExportSlot(std::shared_ptr<ExportSlots::State> state, ExportReader reader)
    : state_(std::move(state)), reader_(std::move(reader))
{
}

ExportSlot::~ExportSlot()
{
    const std::scoped_lock lock(state_->mutex);
    state_->places.erase(this);
}

Result<void> ExportSlot::note(std::size_t bytes, std::chrono::steady_clock::duration took)
{
    const std::scoped_lock lock(state_->mutex);
    pace_.note(bytes, took);
    if (cut_off_.empty()) {
        const double least = state_->limits.min_bytes_per_s;
        const std::string whose = "the export of " + reader_.token_id;
        if (has_given_way_)
            state_->cut_off(*this, "gave_way",
                            whose + " is read at " + kib_per_s(pace_.last().value_or(0)) +
                                " while others wait for one");
        else if (pace_.last().value_or(least) < least)
            state_->cut_off(*this, "too_slow",
                            whose + " is read at " + kib_per_s(*pace_.last()) + ", less than " + kib_per_s(least));
    }
    if (!cut_off_.empty()) return Error{Errc::kUnavailable, cut_off_};
    return {};
}

std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)>
pace_stream(std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)> stream,
            std::shared_ptr<ExportSlot> place, std::function<std::chrono::steady_clock::time_point()> now)
{
    auto note = [place = std::move(place)](std::size_t bytes, std::chrono::steady_clock::duration took) {
        return place->note(bytes, took);
    };
    return pace_stream(std::move(stream), NoteTaken(std::move(note)), std::move(now));
}

} // namespace fathom::server
