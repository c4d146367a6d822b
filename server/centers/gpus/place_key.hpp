#pragma once

#include <string>

namespace fathom::server {

/// Where a page goes on of a list that is ordered by center and a name within it. A center's name holds no slash
/// (EnrolmentService sees to it), so the first one separates.
struct PlaceKey {
    std::string center;
    std::string name;
};

inline std::string to_text(const PlaceKey& key)
{
    return key.center + "/" + key.name;
}

/// Of any text; what is no key of ours is one of a center without a name.
inline PlaceKey place_key(const std::string& text)
{
    const std::size_t cut = text.find('/');
    return {text.substr(0, cut), cut == std::string::npos ? std::string() : text.substr(cut + 1)};
}

} // namespace fathom::server
