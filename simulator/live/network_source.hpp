#pragma once

#include "core/base/json_view.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::simulation {

using json_view::is_true;
using json_view::items_of;
using json_view::member;
using json_view::number_of;
using json_view::text_of;
using json_view::time_of;

/// A running network, asked by the paths and bodies of its REST interface, without the prefix /api/v1. Who simulates
/// brings one: by HTTPS, or inside the server.
class NetworkSource {
  public:
    /// Names and values; empty values are not given.
    using Query = std::vector<std::pair<std::string, std::string>>;

    virtual ~NetworkSource() = default;

    // Each answers the network's JSON. @error as the network says
    virtual Result<Json> get(std::string_view path, const Query& query) = 0;
    /// Of questions alone: nothing is asked for that changes anything.
    virtual Result<Json> post(std::string_view path, const Json& body) = 0;
};

/// Items of all pages of a list, `most` of them at most; empty: all.
/// @error kInternal  the answer is no list. Others as NetworkSource::get.
Result<Json> list_items(NetworkSource& source, std::string_view path, NetworkSource::Query query,
                        std::optional<std::size_t> most = std::nullopt);

} // namespace fathom::simulation
