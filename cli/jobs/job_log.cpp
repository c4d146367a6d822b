#include "cli/jobs/job_log.hpp"

#include <ostream>
#include <thread>

namespace fathom::cli {
namespace {

constexpr int kReconnects = 8;

} // namespace

Result<void> copy_job_log(Session& session, const std::string& id, const JobLogOptions& options, std::ostream& out)
{
    const std::string path =
        "/jobs/" + path_segment(id) + "/logs/" + (options.stream == LogStream::kStdout ? "stdout" : "stderr");
    std::int64_t offset = options.offset_bytes;
    int failures = 0;
    const auto on_data = [&](std::string_view data) {
        out.write(data.data(), static_cast<std::streamsize>(data.size()));
        out.flush();
        offset += static_cast<std::int64_t>(data.size());
        failures = 0;
        return out.good();
    };
    for (;;) {
        const Query query{{"attempt", options.attempt},
                          {"follow", options.follow ? "true" : ""},
                          {"offset_bytes", offset > 0 ? std::to_string(offset) : ""}};
        const Result<void> done = session.stream(path, query, {}, on_data);
        if (done || done.error().code != Errc::kUnavailable) return done;
        const bool began = offset > options.offset_bytes || is_connection_lost(done.error());
        if (!began || ++failures > kReconnects) return done;
        std::this_thread::sleep_for(std::chrono::milliseconds(200) * failures);
    }
}

Result<void> follow_job_logs(Session& session, const std::string& id)
{
    Result<Session> other = session.open_another();
    if (!other) return other.error();
    Result<void> errors_copied;
    std::thread errors([&] {
        errors_copied =
            copy_job_log(*other, id, {.stream = LogStream::kStderr, .follow = true}, *session.console().err);
    });
    Result<void> copied = copy_job_log(session, id, {.follow = true}, *session.console().out);
    errors.join();
    return copied ? errors_copied : copied;
}

} // namespace fathom::cli
