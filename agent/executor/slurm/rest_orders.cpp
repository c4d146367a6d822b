#include "agent/executor/slurm/rest_orders.hpp"

#include "agent/executor/slurm/rest_submission.hpp"
#include "agent/executor/slurm/rest_token.hpp"
#include "core/base/file.hpp"
#include "core/base/id.hpp"
#include "core/base/log.hpp"
#include "core/transfer/transfer.hpp"

#include <algorithm>
#include <array>
#include <pwd.h>
#include <unistd.h>
#include <utility>

namespace fathom::agent {
namespace {

/// slurmrestd itself tries for 9 s to reach a slurmctld that is away.
constexpr std::chrono::seconds kRestTimeout{60};
/// slurmdbd is asked between looks at slurmctld, which must not wait for long.
constexpr std::chrono::seconds kRestAccountsTimeout{10};
constexpr std::size_t kMaxRestBytes = 128UL << 20U; ///< of some ten thousand jobs, 3 kB each
constexpr std::size_t kMaxScriptBytes = 4UL << 20U;
constexpr std::string_view kUnixScheme = "unix:";
constexpr const char* kJobsPath = "/slurm/v0.0.38/";
constexpr const char* kAccountsPath = "/slurmdb/v0.0.38/";
constexpr std::size_t kUserEntryBytes = 16UL << 10U;

using HeaderList = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

void add_header(HeaderList& headers, const std::string& line)
{
    if (curl_slist* const longer = curl_slist_append(headers.get(), line.c_str()); longer != nullptr) {
        static_cast<void>(headers.release());
        headers.reset(longer);
    }
}

std::size_t take_body(const char* data, std::size_t size, std::size_t count, void* answer)
{
    std::string& body = static_cast<RestAnswer*>(answer)->body;
    if (size * count > kMaxRestBytes - body.size()) return 0;
    body.append(data, size * count);
    return size * count;
}

std::string name_of_own_user()
{
    const passwd* const self = ::getpwuid(::geteuid()); // NOLINT(concurrency-mt-unsafe): one thread
    return self != nullptr ? self->pw_name : std::to_string(::geteuid());
}

std::optional<unsigned> uid_of_name(const std::string& name)
{
    std::array<char, kUserEntryBytes> room{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return {};
    return found->pw_uid;
}

bool is_header_value(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_slurm_number(const std::string& text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

RestOrders::RestOrders(SlurmConfig config) : config_(std::move(config)), own_name_(name_of_own_user())
{
    static_cast<void>(start_curl()); // a request says what is amiss
}

Result<RestAnswer> RestOrders::ask(const Question& question) const
{
    if (const Result<void> started = start_curl(); !started) return started.error();
    const Result<std::string> token = read_slurm_token(config_.token_file, clock_.now());
    if (!token) return token.error();
    std::string user = question.user.empty() ? claims_of_token(*token).user : question.user;
    if (user.empty()) user = own_name_;
    if (!is_header_value(user)) return Error{Errc::kUnavailable, "slurmrestd cannot be asked as a user without a name"};
    const bool is_socket = config_.rest.starts_with(kUnixScheme);
    const std::string url = (is_socket ? "http://localhost" : config_.rest) + question.path;
    std::array<char, CURL_ERROR_SIZE> cause{};
    const CurlHandle handle = make_transfer(url, true, cause.data());
    HeaderList headers(nullptr, &curl_slist_free_all);
    for (const std::string& line : {"X-SLURM-USER-NAME: " + user, "X-SLURM-USER-TOKEN: " + *token,
                                    std::string("Content-Type: application/json"), std::string("Expect:")})
        add_header(headers, line);
    if (!handle || !headers) return Error{Errc::kUnavailable, "out of memory"};
    CURL* const curl = handle.get();
    RestAnswer answer;
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); // whoever stands between would have the token
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, question.method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(question.timeout.count()));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    if (is_socket) curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, config_.rest.c_str() + kUnixScheme.size());
    if (!question.body.empty()) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(question.body.size()));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, question.body.c_str());
    }
    const CURLcode done = curl_easy_perform(curl);
    answer.status = status_of(curl);
    if (done != CURLE_OK)
        return Error{Errc::kUnavailable,
                     "slurmrestd at " + config_.rest + " does not answer: " + failure(done, cause.data()).detail};
    return answer;
}

Result<std::string> RestOrders::submit(const std::filesystem::path& script, const std::optional<JobUser>& user)
{
    const Result<std::string> text = read_file(script, kMaxScriptBytes);
    if (!text) return Error{Errc::kUnavailable, text.error().detail};
    const Result<Json> order = rest_submission(*text);
    if (!order) return order.error();
    const Question question{.method = "POST",
                            .path = std::string(kJobsPath) + "job/submit",
                            .body = order->dump(),
                            .user = name_of(user),
                            .timeout = kRestTimeout};
    const Result<RestAnswer> answer = ask(question);
    if (!answer) return answer.error();
    return parse_rest_submitted(*answer);
}

Result<std::vector<SlurmJob>> RestOrders::queue(const std::set<unsigned>& users)
{
    const Question question{.method = "GET", .path = std::string(kJobsPath) + "jobs", .timeout = kRestTimeout};
    const Result<RestAnswer> answer = ask(question);
    if (!answer) return answer.error();
    Result<std::vector<SlurmJob>> jobs = parse_rest_queue(*answer, users, clock_.now());
    if (jobs) tell_requeue(*jobs);
    return jobs;
}

void RestOrders::tell_requeue(const std::vector<SlurmJob>& jobs)
{
    // Others of these users may want it for their own jobs.
    const bool is_none = std::none_of(jobs.begin(), jobs.end(), [](const SlurmJob& job) {
        return job.is_requeued && AttemptId::parse(job.name).has_value();
    });
    if (is_none || std::exchange(has_told_requeue_, true)) return;
    log_warning("slurm_requeues", {{"effect", "after a node's failure Slurm starts jobs again, which end as lost then"},
                                   {"way_out", "set JobRequeue=0 in slurm.conf, or leave slurm_rest out"}});
}

Result<std::vector<SlurmJob>> RestOrders::accounts(const std::vector<std::string>& jobs)
{
    std::string numbers;
    for (const std::string& job : jobs) {
        if (is_slurm_number(job)) numbers += (numbers.empty() ? "" : "%2C") + job;
    }
    if (numbers.empty()) return std::vector<SlurmJob>();
    const Question question{
        .method = "GET", .path = std::string(kAccountsPath) + "jobs?step=" + numbers, .timeout = kRestAccountsTimeout};
    const Result<RestAnswer> answer = ask(question);
    if (!answer) return answer.error();
    return parse_rest_accounts(*answer, &uid_of_name);
}

Result<void> RestOrders::cancel(const std::vector<std::string>& jobs, const std::optional<JobUser>& user)
{
    Result<void> outcome;
    for (const std::string& job : jobs) {
        if (!is_slurm_number(job)) continue; // a note of the job's user
        const Question question{.method = "DELETE",
                                .path = std::string(kJobsPath) + "job/" + job,
                                .user = name_of(user),
                                .timeout = kRestTimeout};
        const Result<RestAnswer> answer = ask(question);
        if (!answer) return answer.error();
        // One that cannot be ended does not keep the others.
        if (const Result<void> done = parse_rest_cancelled(*answer); !done) outcome = done;
    }
    return outcome;
}

} // namespace fathom::agent
