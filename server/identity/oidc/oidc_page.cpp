#include "server/identity/oidc/oidc_page.hpp"

#include "core/base/escape_markup.hpp"
#include "core/base/secret.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace fathom::server {
namespace {

using Why = OidcRefusal::Why;

constexpr std::size_t kMaxShownGroups = 50;
constexpr std::string_view kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;margin:14vh auto 2rem;max-width:34rem;padding:0 20px;color:#1b1f24;"
    "background:#fff}h1{font-size:1.4rem}a{color:#0b57d0}code{font:.9em monospace}.dim{color:#5a636e}"
    "@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#14171a}a{color:#8ab4f8}.dim{color:#9aa4af}}";

/// Two languages of one sentence; {provider}, {name}, {word} and {claim} are filled in.
struct Sentence {
    std::string_view en;
    std::string_view zh;
};

struct Explanation {
    Why why{};
    int status{};
    Sentence what;
    Sentence remedy;
};

/// In the order of Why, one for each.
constexpr auto kExplanations = std::to_array<Explanation>({
    {Why::kUnknown,
     400,
     {"This sign-in is not known here any more: it took longer than ten minutes, was used already, or began in "
      "another browser.",
      "此次登录已失效：用时超过十分钟、已被使用过，或是在另一个浏览器中开始的。"},
     {"Begin again.", "请重新开始。"}},
    {Why::kTooMany,
     429,
     {"Too many sign-ins have begun or failed in your network lately.", "您所在的网络近期开始或失败的登录过多。"},
     {"Try again in a minute.", "请一分钟后再试。"}},
    {Why::kUnreachable,
     503,
     {"The server cannot reach {provider}, or gets its answers too late.", "服务器无法连接 {provider}，或其应答过慢。"},
     {"Try again soon. A password or an API token works meanwhile.",
      "请稍后再试。在此期间可使用密码或 API 令牌登录。"}},
    {Why::kWrongAnswer,
     502,
     {"{provider} and this server do not understand each other.", "{provider} 与本服务器无法互通。"},
     {"An administrator finds the cause in the server's log, at the request below.",
      "管理员可在服务器日志中按下方的请求编号查到原因。"}},
    {Why::kDenied,
     403,
     {"{provider} has not signed you in ({word}).", "{provider} 未允许您登录（{word}）。"},
     {"Begin again, or ask those who run {provider}.", "请重新开始，或询问 {provider} 的管理者。"}},
    {Why::kNoGroup,
     403,
     {"{provider} knows you as {name}, but none of your groups has a role here.",
      "{provider} 确认您是 {name}，但您所在的组在此没有任何角色。"},
     {"An administrator can give a role to one of them (setting oidc_roles), or have {provider} put you into a "
      "group that has one. If groups are missing above: {provider} must send them in the claim {claim}, which "
      "may need a further scope (oidc_scopes).",
      "管理员可为其中一个组指定角色（设置 oidc_roles），或在 {provider} 将您加入已有角色的组。若上方缺少组："
      "{provider} 须在声明 {claim} 中给出，可能需要增加 scope（oidc_scopes）。"}},
    {Why::kDisabled,
     403,
     {"The account {name} is disabled here.", "账户 {name} 在此已停用。"},
     {"An administrator can enable it: fathom user enable {name}", "管理员可以启用它：fathom user enable {name}"}},
    {Why::kNameTaken,
     403,
     {"{provider} calls you {name}, and an account or a token here that is not yours has this name.",
      "{provider} 称您为 {name}，而此处已有同名的账户或令牌，且不属于您。"},
     {"An administrator can remove that one, or let another claim of {provider} name people (setting "
      "oidc_name_claim).",
      "管理员可以移除它，或改用 {provider} 的另一个声明作为名称（设置 oidc_name_claim）。"}},
    {Why::kNameUnfit,
     403,
     {"{provider} calls you “{name}”, which cannot be a name here: that begins with a letter and has at most 64 "
      "letters, digits and . _ - @",
      "{provider} 称您为“{name}”，不能用作此处的名称：须以字母开头，最多 64 个字母、数字和 . _ - @"},
     {"An administrator can let another claim of {provider} name people (setting oidc_name_claim).",
      "管理员可以改用 {provider} 的另一个声明作为名称（设置 oidc_name_claim）。"}},
    {Why::kNotNow,
     503,
     {"The server cannot sign anybody in just now.", "服务器暂时无法登录任何人。"},
     {"Try again soon.", "请稍后再试。"}},
});

constexpr bool are_in_order(std::span<const Explanation> explanations)
{
    for (std::size_t i = 0; i < explanations.size(); ++i) {
        if (explanations[i].why != static_cast<Why>(i)) return false;
    }
    return true;
}
static_assert(are_in_order(kExplanations) && kExplanations.back().why == Why::kNotNow,
              "each reason, the last one too, has its explanation");

const Explanation& explanation_of(Why why)
{
    const auto place = static_cast<std::size_t>(why);
    return place < kExplanations.size() ? kExplanations[place] : kExplanations.back();
}

/// Left to right, so that what is filled in is never filled in itself.
std::string filled(std::string_view sentence, const OidcPageContext& context, const OidcRefusal& refusal)
{
    const std::pair<std::string_view, std::string_view> values[] = {{"{provider}", context.settings->provider_name},
                                                                    {"{name}", refusal.name},
                                                                    {"{word}", refusal.detail},
                                                                    {"{claim}", context.settings->groups_claim}};
    std::string text;
    while (!sentence.empty()) {
        bool was_place = false;
        for (const auto& [place, value] : values) {
            if (!sentence.starts_with(place)) continue;
            text += value;
            sentence.remove_prefix(place.size());
            was_place = true;
            break;
        }
        if (was_place) continue;
        text += sentence.front();
        sentence.remove_prefix(1);
    }
    return text;
}

net::Response page(const OidcPageContext& context, int status, std::string_view head, std::string_view body)
{
    const std::string nonce = new_secret("");
    net::Response response;
    response.status = status;
    response.body = std::string("<!doctype html><html lang=\"") + (context.is_chinese ? "zh-CN" : "en") +
                    "\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, "
                    "initial-scale=1\"><meta name=\"robots\" content=\"noindex\">" +
                    std::string(head) + "<style nonce=\"" + nonce + "\">" + std::string(kStyle) +
                    "</style></head><body><main>" + std::string(body) + "</main></body></html>";
    response.headers["Content-Type"] = "text/html; charset=utf-8";
    response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'nonce-" + nonce +
                                                  "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    response.headers["Cache-Control"] = "no-store";
    response.headers["Referrer-Policy"] = "no-referrer";
    response.headers["X-Content-Type-Options"] = "nosniff";
    return response;
}

std::string group_list(const OidcPageContext& context, const std::vector<std::string>& groups)
{
    if (groups.empty())
        return std::string("<p>") + (context.is_chinese ? "没有收到任何组。" : "No groups came.") + "</p>";
    std::string html = std::string("<p>") + (context.is_chinese ? "收到的组：" : "Groups that came:") + "</p><ul>";
    for (std::size_t i = 0; i < groups.size() && i < kMaxShownGroups; ++i)
        html += "<li><code>" + escape_markup(groups[i]) + "</code></li>";
    if (groups.size() > kMaxShownGroups) html += "<li>… " + std::to_string(groups.size() - kMaxShownGroups) + "</li>";
    return html + "</ul>";
}

} // namespace

net::Response refusal_page(const OidcPageContext& context, const OidcRefusal& refusal)
{
    const Explanation& explanation = explanation_of(refusal.why);
    const auto paragraph = [&](const Sentence& sentence) {
        return "<p>" + escape_markup(filled(context.is_chinese ? sentence.zh : sentence.en, context, refusal)) + "</p>";
    };
    const std::string title = context.is_chinese ? "未能登录" : "Not signed in";
    std::string body = "<h1>" + title + "</h1>" + paragraph(explanation.what);
    if (refusal.why == Why::kNoGroup) body += group_list(context, refusal.groups);
    body += paragraph(explanation.remedy);
    body += "<p><a href=\"/\">" + std::string(context.is_chinese ? "返回登录页" : "Back to the sign-in") + "</a></p>";
    body += "<p class=\"dim\"><code>" + escape_markup(to_string(refusal.why)) + " " +
            escape_markup(context.request_id) + "</code></p>";
    net::Response response = page(context, explanation.status, "<title>" + title + " · Fathom</title>", body);
    if (explanation.status == 429) response.headers["Retry-After"] = "60";
    return response;
}

net::Response forward_page(const OidcPageContext& context, const std::string& path)
{
    const std::string target = escape_markup(path);
    const std::string_view words = context.is_chinese ? "已登录。继续" : "Signed in. Go on";
    return page(context, 200, "<meta http-equiv=\"refresh\" content=\"0;url=" + target + "\"><title>Fathom</title>",
                "<h1>Fathom</h1><p><a href=\"" + target + "\">" + std::string(words) + "</a></p>");
}

} // namespace fathom::server
