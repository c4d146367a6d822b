#include "server/api/etag.hpp"

#include "server/api/api_router.hpp"

namespace fathom::server {

std::string etag(std::int64_t version)
{
    return "\"" + std::to_string(version) + "\"";
}

bool if_match_allows(const net::Request& request, std::int64_t version)
{
    std::string_view list = request.header("If-Match");
    if (list.empty()) return true;
    const std::string wanted = etag(version);
    // A list of tags, or "*". Our tags hold no commas. Weak tags never match (RFC 9110, 13.1.1).
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string_view tag = list.substr(0, comma);
        while (tag.starts_with(' ') || tag.starts_with('\t'))
            tag.remove_prefix(1);
        while (tag.ends_with(' ') || tag.ends_with('\t'))
            tag.remove_suffix(1);
        if (tag == "*" || tag == wanted) return true;
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
    return false;
}

net::Response precondition_failed(const net::Request& request)
{
    net::Response response = net::problem(
        Error{Errc::kConflict, "it changed since you read it: read it again and send its new ETag in If-Match"},
        request.request_id);
    response.status = 412;
    Json body = Json::parse(response.body, nullptr, false);
    if (body.is_object()) {
        body["status"] = 412;
        if (body.contains("title")) body["title"] = "Precondition Failed";
        response.body = body.dump();
    }
    return response;
}

} // namespace fathom::server
