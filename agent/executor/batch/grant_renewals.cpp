#include "agent/executor/batch/grant_renewals.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/model/data_location.hpp"
#include "core/transfer/signed_url.hpp"

#include <algorithm>
#include <iterator>
#include <sys/stat.h>

namespace fathom::agent {
namespace {

constexpr std::chrono::hours kLookEvery{1};
/// What is signed is good for seven.
constexpr std::chrono::hours kRenewAfter{24};
constexpr std::size_t kMaxSignedBytes = 1UL << 22U;

/// BatchFolder::signed_urls().
struct SignedUrls {
    AttemptOrder order;          ///< its project, its wall limit, and its s3:// URLs
    std::optional<JobUser> user; ///< whose what is signed is to be; empty: the agent's
};

Json encode(const SignedUrls& urls)
{
    Json json = {{"project", urls.order.owner.project}, {"wall_limit_s", urls.order.wall_limit_s}};
    json["inputs"] = json["outputs"] = Json::array();
    for (const JobInput& input : urls.order.inputs)
        json["inputs"].push_back(input.url);
    for (const JobOutput& output : urls.order.outputs)
        json["outputs"].push_back(output.url);
    if (urls.user) json["user"] = {{"uid", urls.user->uid}, {"gid", urls.user->gid}};
    return json;
}

Result<SignedUrls> decode_signed_urls(const std::string& text)
{
    // Our own words: a type error in them can only be damage.
    try {
        const Json json = Json::parse(text);
        SignedUrls urls;
        urls.order.owner.project = json.at("project").get<std::string>();
        urls.order.wall_limit_s = json.at("wall_limit_s").get<std::int64_t>();
        for (const Json& url : json.at("inputs"))
            urls.order.inputs.emplace_back().url = url.get<std::string>();
        for (const Json& url : json.at("outputs"))
            urls.order.outputs.emplace_back().url = url.get<std::string>();
        if (json.contains("user"))
            urls.user =
                JobUser{"", json.at("user").at("uid").get<unsigned>(), json.at("user").at("gid").get<unsigned>()};
        return urls;
    } catch (const Json::exception& e) {
        return Error{Errc::kInvalid, std::string("not what was signed: ") + e.what()};
    }
}

/// When a file was written, since 1970; empty where there is none. Its owner may have set any time.
std::optional<std::chrono::seconds> written_at(const std::filesystem::path& path)
{
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
    return std::chrono::seconds(facts.st_mtim.tv_sec);
}

Result<void> renew(const BatchFolder& folder, const S3Store& store, Timestamp now)
{
    const Result<std::string> text = read_file(folder.signed_urls(), kMaxSignedBytes);
    if (!text) return text.error();
    const Result<SignedUrls> urls = decode_signed_urls(*text);
    if (!urls) return urls.error();
    const StagingRule rule = with_s3_grants({}, store, urls->order, now, kMaxSignedTime);
    return write_for_job(folder.path / kRenewedName, to_json(rule).dump(), 0400, urls->user);
}

} // namespace

Result<void> note_signed(const AttemptOrder& order, const BatchFolder& folder, const std::optional<JobUser>& user)
{
    SignedUrls urls{.order = {}, .user = user};
    urls.order.owner.project = order.owner.project;
    urls.order.wall_limit_s = order.wall_limit_s;
    const auto is_object = [](const auto& file) { return is_object_url(file.url); };
    std::copy_if(order.inputs.begin(), order.inputs.end(), std::back_inserter(urls.order.inputs), is_object);
    std::copy_if(order.outputs.begin(), order.outputs.end(), std::back_inserter(urls.order.outputs), is_object);
    if (urls.order.inputs.empty() && urls.order.outputs.empty()) return {};
    return write_file(folder.signed_urls(), encode(urls).dump(), 0600);
}

void GrantRenewals::look(Timestamp now)
{
    if (store_.access.endpoint.empty() || (looked_at_ && now - *looked_at_ < kLookEvery)) return;
    looked_at_ = now;
    const auto a_day_ago = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()) - kRenewAfter;
    for (const AttemptId& id : attempts_in(folder_)) {
        const BatchFolder folder{folder_ / id.value};
        const std::optional<std::chrono::seconds> first = written_at(folder.signed_urls());
        if (!first || written_at(folder.report() / "ended")) continue;
        if (written_at(folder.path / kRenewedName).value_or(*first) > a_day_ago) continue;
        if (const Result<void> renewed = renew(folder, store_, now); !renewed)
            log_warning("s3_not_signed_anew", {{"attempt_id", id.value}, {"reason", renewed.error().detail}});
    }
}

} // namespace fathom::agent
