#include "server/identity/oidc/oidc_settings.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

std::string_view trimmed(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

Result<GroupRole> parse_group_role(std::string_view entry)
{
    const std::size_t equals = entry.rfind('=');
    if (equals == std::string_view::npos || trimmed(entry.substr(0, equals)).empty())
        return Error{Errc::kInvalid, "must be GROUP=ROLE, with semicolons between, not " + std::string(entry)};
    const std::string_view role = trimmed(entry.substr(equals + 1));
    const std::optional<Role> known = parse_role(role);
    if (!known) return Error{Errc::kInvalid, "names no role: " + std::string(role)};
    return GroupRole{std::string(trimmed(entry.substr(0, equals))), *known};
}

} // namespace

Result<std::vector<GroupRole>> parse_group_roles(std::string_view text)
{
    std::vector<GroupRole> roles;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view entry = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (entry.empty()) continue;
        Result<GroupRole> parsed = parse_group_role(entry);
        if (!parsed) return parsed.error();
        roles.push_back(std::move(*parsed));
    }
    return roles;
}

std::optional<GroupRole> find_role(const std::vector<GroupRole>& roles, const std::vector<std::string>& groups)
{
    const auto found = std::ranges::find_if(
        roles, [&](const GroupRole& entry) { return std::ranges::find(groups, entry.group) != groups.end(); });
    if (found == roles.end()) return std::nullopt;
    return *found;
}

} // namespace fathom::server
