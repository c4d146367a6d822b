#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::server {

/// One page of a list that is read by key: the rows, and the key to go on after (empty on the last page).
template <class Row>
struct Page {
    std::vector<Row> items;
    std::string next_after;
};

/// Makes a page of rows that were asked for with a limit of `size + 1`: the surplus row only says that
/// there is more. `key_of` gives the key of the last row that stays.
template <class Row, class KeyOf>
Page<Row> cut_page(std::vector<Row> rows, std::int64_t size, KeyOf key_of)
{
    Page<Row> page{std::move(rows), {}};
    if (page.items.size() <= static_cast<std::size_t>(size)) return page;
    page.items.resize(static_cast<std::size_t>(size));
    page.next_after = key_of(page.items.back());
    return page;
}

} // namespace fathom::server
