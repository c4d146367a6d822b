#include "simulator/live/network_source.hpp"

#include <algorithm>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxPageItems = 500;

} // namespace

Result<Json> list_items(NetworkSource& source, std::string_view path, NetworkSource::Query query,
                        std::optional<std::size_t> most)
{
    Json items = Json::array();
    std::string page_token;
    do {
        const std::size_t left = most ? *most - items.size() : kMaxPageItems;
        NetworkSource::Query page_query = query;
        page_query.emplace_back("page_size", std::to_string(std::clamp<std::size_t>(left, 1, kMaxPageItems)));
        page_query.emplace_back("page_token", page_token);
        Result<Json> page = source.get(path, page_query);
        if (!page) return page.error();
        if (!member(*page, "items").is_array()) return Error{Errc::kInternal, "the network's answer is not a list"};
        for (Json& item : (*page)["items"]) {
            if (!most || items.size() < *most) items.push_back(std::move(item));
        }
        page_token = text_of(*page, "next_page_token", "");
    } while (!page_token.empty() && (!most || items.size() < *most));
    return items;
}

} // namespace fathom::simulation
