#include "agent/executor/s3_grants.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/model/data_location.hpp"
#include "core/transfer/signed_url.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;
constexpr const char* kKeyInReach =
    "this center signs for no s3:// URLs: its jobs run as the agent does and could read the store's key; start the "
    "agent as root with run_as or run_as_uids, or allow user namespaces, or let them ([s3] jobs_may_read_key)";

Error wrong_key_file(const std::filesystem::path& path, const std::string& cause)
{
    return {Errc::kInvalid, "s3.key_file " + path.string() + ": " + cause};
}

std::string line_of(const std::string& text, std::size_t& at)
{
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    at = std::min(end + 1, text.size());
    return line;
}

/// Inputs are fetched at the start, outputs stored at the end.
bool could_last(const AttemptOrder& order, std::string_view method)
{
    return method != "PUT" || order.wall_limit_s <= kMaxWallLimitOfSigned_s;
}

bool may(const S3Store& store, const std::string& project, std::vector<std::string> S3AccessRule::* prefixes,
         const std::string& url)
{
    return std::any_of(store.rules.begin(), store.rules.end(), [&](const S3AccessRule& rule) {
        return !project.empty() && rule.project == project && is_below_prefix(url, rule.*prefixes);
    });
}

} // namespace

Result<S3Store> open_s3_store(const S3Config& config)
{
    if (config.endpoint.empty()) return S3Store();
    struct stat facts{};
    if (::stat(config.key_file.c_str(), &facts) != 0) return wrong_key_file(config.key_file, error_text(errno));
    if (!S_ISREG(facts.st_mode)) return wrong_key_file(config.key_file, "is no file");
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
        return wrong_key_file(config.key_file, "belongs to another user, who can read it");
    if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return wrong_key_file(config.key_file, "others may read it: chmod 600");
    const Result<std::string> text = read_file(config.key_file, kMaxKeyFileBytes);
    if (!text) return wrong_key_file(config.key_file, text.error().detail);
    S3Store store{.key_file = std::filesystem::absolute(config.key_file)};
    std::size_t at = 0;
    store.access = {.endpoint = config.endpoint,
                    .region = config.region,
                    .access_key = line_of(*text, at),
                    .secret_key = line_of(*text, at),
                    .ca_file = {}};
    if (store.access.access_key.empty() || store.access.secret_key.empty())
        return wrong_key_file(config.key_file, "must hold the access key and the secret key, a line each");
    store.rules = config.access;
    store.jobs_may_read_key = config.jobs_may_read_key;
    return store;
}

S3Store in_reach_of_jobs(S3Store store)
{
    if (!store.access.endpoint.empty() && !store.jobs_may_read_key) store.refusal = kKeyInReach;
    return store;
}

Json s3_facts(const S3Store& store)
{
    Json facts = {{"s3", !store.access.endpoint.empty() && store.refusal.empty()}};
    if (!store.refusal.empty()) facts["s3_refusal"] = store.refusal;
    if (!store.access.endpoint.empty() && store.jobs_may_read_key) facts["s3_jobs_may_read_key"] = true;
    return facts;
}

StagingRule with_s3_grants(StagingRule rule, const S3Store& store, const AttemptOrder& order, Timestamp now,
                           std::chrono::seconds lasts)
{
    lasts = std::clamp(lasts, std::chrono::seconds(1), kMaxSignedTime);
    const auto grant = [&](const char* method, std::vector<std::string> S3AccessRule::* prefixes,
                           const std::string& url) {
        if (!is_object_url(url)) return;
        S3Grant granted;
        const std::string path = url.substr(kObjectScheme.size() - 1);
        if (store.access.endpoint.empty())
            granted.refusal = "this center has no object store for s3:// URLs ([s3])";
        else if (!store.refusal.empty())
            granted.refusal = store.refusal;
        else if (!may(store, order.owner.project, prefixes, url))
            granted.refusal = "this center gives jobs of their project no such access to it ([[s3_access]])";
        else if (!could_last(order, method))
            granted.refusal = "the job may run for longer than any signature is good for: s3:// outputs are for wall "
                              "limits of 6 days and 23 hours at most";
        else
            granted.url = signed_url(store.access, {.method = method, .path = path, .at = now, .lasts = lasts});
        rule.s3.insert_or_assign(s3_grant_key(method, url), std::move(granted));
    };
    for (const JobInput& input : order.inputs)
        grant("GET", &S3AccessRule::read, input.url);
    for (const JobOutput& output : order.outputs)
        grant("PUT", &S3AccessRule::write, output.url);
    return rule;
}

} // namespace fathom::agent
