#include "server/api/paging.hpp"

#include "core/base/base64url.hpp"
#include "core/base/utf8.hpp"
#include "server/api/api_router.hpp"
#include "server/api/page_text.hpp"

namespace fathom::server {
namespace {

constexpr std::string_view kTokenVersion = "1:"; // so that the key's form can change without misreading old tokens

/// URL-safe, so that clients may paste it unescaped.
std::string encode_token(const std::string& after)
{
    return base64url_encode(std::string(kTokenVersion) + after);
}

std::optional<std::string> decode_token(const std::string& token)
{
    const std::optional<std::string> text = base64url_decode(token);
    // PostgreSQL takes no text that is not UTF-8; a forged token may hold anything.
    if (!text || !text->starts_with(kTokenVersion) || text->find('\0') != std::string::npos || !is_utf8(*text))
        return std::nullopt;
    return text->substr(kTokenVersion.size());
}

} // namespace

Result<PageRequest> parse_page_request(const net::Request& request)
{
    PageRequest page;
    page.size = query_integer(request.query, "page_size").value_or(page.size);
    const std::string token = query_text(request.query, "page_token");
    if (token.empty()) return page;
    std::optional<std::string> after = decode_token(token);
    if (!after)
        return Error(Errc::kInvalid, "the query has 1 error",
                     {{"page_token", "is not a token that this server gave out"}});
    page.after = std::move(*after);
    return page;
}

net::Response page_response(Json items, const std::string& next_after)
{
    Json body = {{"items", std::move(items)}, {"next_page_token", nullptr}};
    if (!next_after.empty()) body["next_page_token"] = encode_token(next_after);
    return json_response(200, body);
}

net::Response page_of_texts(const std::vector<std::string>& items, const std::string& next_after)
{
    std::string body = "{\"items\":[";
    for (const std::string& item : items) {
        if (&item != &items.front()) body += ',';
        body += item;
    }
    body += "],\"next_page_token\":";
    body += next_after.empty() ? "null" : Json(encode_token(next_after)).dump();
    body += '}';
    return net::json_response(200, std::move(body));
}

} // namespace fathom::server
