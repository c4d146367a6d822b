#pragma once

#include "server/api/api_router.hpp"
#include "server/api/paging.hpp"
#include "server/store/page.hpp"

namespace fathom::server {

/// A page of rows that have a to_json().
template <class Row>
net::Response render_page(const Page<Row>& page)
{
    Json items = Json::array();
    for (const Row& row : page.items)
        items.push_back(to_json(row));
    return page_response(std::move(items), page.next_after);
}

} // namespace fathom::server
