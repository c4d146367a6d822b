#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

/// The same of rows of which some may not be readable: `read` gives an optional, and leaves those out that are empty.
/// `key_of` gives the key of a row whether it can be read or not, so that a page may end with one that cannot.
template <class Rows, class Read, class KeyOf>
auto page_of_readable(const Rows& rows, std::int64_t size, Read read, KeyOf key_of)
{
    Page<typename decltype(read(*rows.begin()))::value_type> page;
    std::int64_t count = 0;
    std::string last;
    for (const auto& row : rows) {
        if (count++ == size) {
            page.next_after = std::move(last);
            break;
        }
        last = key_of(row);
        if (auto item = read(row)) page.items.push_back(std::move(*item));
    }
    return page;
}

} // namespace fathom::server
