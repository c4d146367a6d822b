#pragma once

#include "core/net/http.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// page_response() of items that are JSON text already, such as rows whose largest part the database gives as text.
net::Response page_of_texts(const std::vector<std::string>& items, const std::string& next_after);

} // namespace fathom::server
