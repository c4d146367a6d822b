#include "agent/app/shared_sub_units.hpp"

#include "core/base/error_text.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/open_inside.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxStored = 1UL << 20U;
constexpr const char* kCountsName = "sub-units.json";
constexpr const char* kRequestName = "sub-unit-request";
constexpr const char* kNewRequestName = "sub-unit-request.new";

Error absent(const std::string& unit)
{
    return {Errc::kUnavailable, "absent: no table [[sub_units]] has unit type " + unit};
}

} // namespace

std::unique_ptr<SubUnitSource> make_sub_unit_source(const AgentFolder& folder, const std::vector<SubUnitRule>& rules)
{
    if (rules.empty()) return std::make_unique<NoSubUnits>();
    OpenFile own(::fcntl(folder.folder.number(), F_DUPFD_CLOEXEC, 0));
    return std::make_unique<SharedSubUnits>(std::move(own), folder.user ? folder.user->uid : ::geteuid(),
                                            folder.user ? folder.user->gid : ::getegid(), rules);
}

const SubUnitRule* SharedSubUnits::rule_of(const std::string& unit) const
{
    const auto found =
        std::find_if(rules_.begin(), rules_.end(), [&](const SubUnitRule& rule) { return rule.unit_type == unit; });
    return found == rules_.end() ? nullptr : &*found;
}

Result<SubUnits> SharedSubUnits::read() const
{
    const Result<std::string> text = read_end(folder_.number(), kCountsName, owner_, kMaxStored);
    if (!text) return Error{Errc::kUnavailable, "the metascheduler has not said how many there are"};
    Result<SubUnits> sub_units = SubUnits::make(rules_, *text);
    if (!sub_units) return Error{Errc::kUnavailable, describe(sub_units.error())};
    return sub_units;
}

Result<std::int64_t> SharedSubUnits::held(const std::string& unit)
{
    const SubUnitRule* const rule = rule_of(unit);
    if (rule == nullptr) return absent(unit);
    const Result<SubUnits> sub_units = read();
    if (!sub_units) return sub_units.error();
    for (const link::SubUnitHolding& holding : sub_units->state().holdings) {
        if (holding.kind == rule->kind) return holding.held_count;
    }
    return absent(unit);
}

std::optional<SubUnitRefusal> SharedSubUnits::last_refusal(const std::string& unit)
{
    const SubUnitRule* const rule = rule_of(unit);
    const Result<SubUnits> sub_units = read();
    if (rule == nullptr || !sub_units) return std::nullopt;
    std::optional<link::SubUnitRefusal> last = sub_units->last_refusal(rule->kind);
    if (!last) return std::nullopt;
    return SubUnitRefusal{.request = std::move(last->request.value), .reason = std::move(last->reason)};
}

Result<void> SharedSubUnits::ask(const SubUnitRequest& request)
{
    const SubUnitRule* const rule = rule_of(request.unit);
    if (rule == nullptr) return absent(request.unit);
    const std::optional<SubUnitRefusal> last = last_refusal(request.unit);
    const std::string refused = last ? last->request : "";
    const auto asked = asked_.find(request.unit);
    if (last && asked != asked_.end() && asked->second != refused) {
        asked_.erase(asked);
        return Error{Errc::kForbidden, "refused: " + last->reason};
    }
    Result<void> left = leave(*rule, request);
    if (left) asked_.insert_or_assign(request.unit, refused);
    return left;
}

Result<void> SharedSubUnits::leave(const SubUnitRule& rule, const SubUnitRequest& request) const
{
    const std::int64_t change = request.wanted != request.held ? request.wanted - request.held : request.change;
    const std::int64_t count = change > 0 ? change : std::min(-change, request.held);
    const std::string text = Json{{"kind", rule.kind},
                                  {"action", count == 0   ? "keep"
                                             : change > 0 ? "gain"
                                                          : "release"},
                                  {"count", count},
                                  {"reason", "balancing " + request.unit}}
                                 .dump(-1, ' ', false, Json::error_handler_t::replace) +
                             "\n";
    // Beside it and renamed: the agent reads all of it or nothing, and what was asked before is replaced.
    ::unlinkat(folder_.number(), kNewRequestName, 0);
    const Result<OpenFile> file = open_log(folder_.number(), kNewRequestName, owner_, group_);
    if (!file) return file.error();
    if (::write(file->number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::renameat(folder_.number(), kNewRequestName, folder_.number(), kRequestName) != 0)
        return Error{Errc::kUnavailable, "the request cannot be left: " + error_text(errno)};
    return {};
}

} // namespace fathom::agent
