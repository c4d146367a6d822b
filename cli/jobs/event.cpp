#include "cli/jobs/event.hpp"

#include "cli/client/event_stream.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"

#include <ostream>
#include <thread>

namespace fathom::cli {
namespace {

constexpr int kEventReconnects = 8;

struct WatchOptions : ListOptions {
    std::string job;
};

/// `11:04:14  job_01J…  running     confirmed by the center`
std::string event_line(const Json& event)
{
    const std::optional<Timestamp> at = time_of(event, "at");
    std::string state = text_of(event, "state");
    state.resize(std::max<std::size_t>(state.size(), 10), ' ');
    return printable((at ? format_rfc3339(*at).substr(11, 8) : std::string("-")) + "  " + text_of(event, "job_id") +
                     "  " + state + "  " + text_of(event, "cause", ""));
}

/// Whether another try may help: a server that refuses, or was never reached, stays so.
bool may_try_again(const Result<void>& ended, const std::string& last_id, int failures)
{
    if (!ended && ended.error().code != Errc::kUnavailable) return false;
    if (!ended && last_id.empty() && !is_connection_lost(ended.error())) return false;
    return failures <= kEventReconnects;
}

Outcome watch_events(Session& session, const WatchOptions& options)
{
    std::ostream& out = *session.console().out;
    std::string last_id;
    std::int64_t seen = 0;
    int failures = 0;
    const auto on_event = [&](const ServerEvent& event) {
        last_id = event.id;
        const Result<Json> json = parse_json(event.data);
        if (!json) return true;
        // One line each, also as JSON: whoever reads a stream needs to know where an event ends.
        out << (session.wants_json() ? json->dump() : event_line(*json)) << "\n" << std::flush;
        ++seen;
        return out.good() && (!options.limit || seen < *options.limit);
    };
    for (;;) {
        EventParser parser;
        const auto on_data = [&](std::string_view data) {
            failures = 0;
            return parser.feed(data, on_event);
        };
        net::Headers headers{{"Accept", "text/event-stream"}};
        // The server goes on after the last event that was seen: none is lost over a reconnect.
        if (!last_id.empty()) headers["Last-Event-ID"] = last_id;
        const Result<void> ended = session.stream("/events", {{"job", options.job}}, headers, on_data);
        if (!out.good() || (options.limit && seen >= *options.limit)) return ExitCode::kOk;
        if (!may_try_again(ended, last_id, ++failures))
            return ended ? Error{Errc::kUnavailable, "the server ends the stream again and again"} : ended.error();
        std::this_thread::sleep_for(std::chrono::milliseconds(250) * failures);
    }
}

} // namespace

void add_event_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "event", "What happens, as it happens");
    auto options = std::make_shared<WatchOptions>();
    CLI::App& watch = add_verb(noun, "watch", "State changes of jobs, one line each, until Ctrl-C",
                               "fathom event watch --output json");
    watch.add_option("--job", options->job, "Only of this job");
    watch.add_option("--limit", options->limit, "End after so many events")->check(CLI::Range(1, 100'000'000));
    on_chosen(watch, invocation, std::move(options), watch_events);
}

} // namespace fathom::cli
