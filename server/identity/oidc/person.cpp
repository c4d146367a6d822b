#include "server/identity/oidc/person.hpp"

#include "core/base/utf8.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxGroups = 1000;
constexpr std::size_t kMaxGroupBytes = 512;

/// NUL goes into no database.
bool is_good_text(const Json& value)
{
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    return !text.empty() && text.size() <= kMaxGroupBytes && is_utf8(text) && text.find('\0') == std::string::npos;
}

} // namespace

const Json* find_claim(const Json& claims, std::string_view name)
{
    if (!claims.is_object()) return nullptr;
    // Names of claims may hold dots themselves: https://example.org/groups.
    if (const auto whole = claims.find(name); whole != claims.end()) return &*whole;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
        const auto outer = claims.find(name.substr(0, dot));
        if (outer == claims.end()) continue;
        if (const Json* const inner = find_claim(*outer, name.substr(dot + 1))) return inner;
    }
    return nullptr;
}

Person person_of(const Json& claims, std::string_view name_claim, std::string_view groups_claim)
{
    Person person;
    person.subject = claims.at("sub").get<std::string>();
    const Json* const name = find_claim(claims, name_claim);
    if (name != nullptr && is_good_text(*name)) person.name = name->get<std::string>();
    const Json* const groups = find_claim(claims, groups_claim);
    if (groups == nullptr) return person;
    if (is_good_text(*groups)) person.groups.push_back(groups->get<std::string>());
    if (!groups->is_array()) return person;
    for (const Json& group : *groups)
        if (is_good_text(group) && person.groups.size() < kMaxGroups) person.groups.push_back(group);
    return person;
}

} // namespace fathom::server
