#include "cli/simulation/simulate_export.hpp"

#include "cli/text/format_units.hpp"
#include "core/base/file.hpp"
#include "core/base/parse_number.hpp"
#include "simulator/live/live_export.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace fathom::cli {
namespace {

constexpr std::array<std::pair<char, double>, 4> kDurationSuffixes{{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};
constexpr double kMaxAgeS = 100 * 366 * 86400.0;

struct ExportOptions {
    std::string centers;
    std::string workload;
    std::string since = "7d";
};

/// "now", "12h", "7d", or a time.
Result<Timestamp> parse_since(const std::string& text, Timestamp now)
{
    if (text == "now") return now;
    for (const auto& [letter, unit_s] : kDurationSuffixes) {
        if (text.size() < 2 || text.back() != letter) continue;
        const auto count = parse_number<double>(std::string_view(text).substr(0, text.size() - 1));
        if (count && *count >= 0 && *count * unit_s < kMaxAgeS)
            return now - std::chrono::duration_cast<Timestamp::duration>(Seconds(*count * unit_s));
    }
    const Result<Timestamp> time = parse_rfc3339(text);
    if (!time)
        return Error{Errc::kInvalid,
                     "--since \"" + text + "\" must be now, 12h, 7d, or a time like 2026-12-01T09:00:00Z"};
    if (*time > now) return Error{Errc::kInvalid, "--since \"" + text + "\" has not come yet"};
    return *time;
}

/// The network that the session reaches.
class SessionSource final : public simulation::NetworkSource {
  public:
    explicit SessionSource(Session& session) : session_(session) {}

    Result<Json> get(std::string_view path, const Query& query) override { return session_.get(path, query); }
    Result<Json> post(std::string_view path, const Json& body) override { return session_.post(path, body); }

  private:
    Session& session_;
};

Result<void> write(const std::string& path, const std::string& content)
{
    if (path.empty()) return {};
    const Result<void> written = write_file(path, content);
    if (!written) return Error{Errc::kInvalid, "cannot write " + path + ": " + written.error().detail};
    return {};
}

void tell(Session& session, const ExportOptions& options, const simulation::LiveExport& live)
{
    if (!options.centers.empty())
        say(session, fmt::format("fathom: {} unit types in {}", live.unit_type_count, options.centers));
    if (!options.workload.empty()) {
        say(session, fmt::format("fathom: {} jobs in {}, {} of which have not ended", live.jobs.lines.size(),
                                 options.workload, format_count(live.jobs.waiting)));
        for (const auto& [reason, count] : live.jobs.left_out)
            say(session, fmt::format("fathom: left out: {} jobs: {}", format_count(count), reason));
    }
    for (const std::string& note : live.notes)
        say(session, "fathom: " + note);
}

Outcome run_export(Session& session, const ExportOptions& options)
{
    if (options.centers.empty() && options.workload.empty())
        return Error{Errc::kInvalid, "nothing to write: --centers FILE, --workload FILE, or both"};
    const Timestamp now = session.now();
    const Result<Timestamp> since = parse_since(options.since, now);
    if (!since) return since.error();
    SessionSource source(session);
    const Result<simulation::LiveExport> live =
        simulation::export_live_network(source, simulation::span_since(*since, now));
    if (!live) return live.error();
    if (const auto written = write(options.centers, live->centers.dump(2) + "\n"); !written) return written.error();
    if (const auto written = write(options.workload, simulation::lines_text(live->jobs)); !written)
        return written.error();
    tell(session, options, *live);
    return ExitCode::kOk;
}

} // namespace

void add_simulate_export(CLI::App& simulate, Invocation& invocation)
{
    CLI::App& verb = add_verb(simulate, "export", "Writes a running network and its jobs as files to simulate",
                              "fathom simulate export --centers now.json --workload jobs.jsonl --since 7d\n"
                              "  fathom simulate export --centers now.json --workload queue.jsonl --since now");
    auto options = std::make_shared<ExportOptions>();
    verb.add_option("--centers", options->centers, "Where to write the centers file");
    verb.add_option("--workload", options->workload, "Where to write the jobs, one a line");
    verb.add_option("--since", options->since,
                    "Jobs submitted since then, and those that had not ended: 12h, 7d (default), a time, or now");
    on_chosen(verb, invocation, options, run_export);
}

} // namespace fathom::cli
