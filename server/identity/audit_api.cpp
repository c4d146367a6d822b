#include "server/identity/audit_api.hpp"

#include "server/identity/audit_store.hpp"

#include <charconv>

namespace fathom::server {
namespace {

constexpr std::size_t kLongestFilter = 200;

Json to_json(const AuditEntry& entry)
{
    return {{"id", entry.id},
            {"at", format_rfc3339(entry.at)},
            {"actor", entry.actor},
            {"actor_name", entry.actor_name ? Json(*entry.actor_name) : Json(nullptr)},
            {"action", entry.action},
            {"subject", entry.subject},
            {"request_id", entry.request_id.empty() ? Json(nullptr) : Json(entry.request_id)},
            {"detail", entry.detail}};
}

Result<AuditFilter> parse_filter(const net::Request& request)
{
    std::vector<FieldError> errors;
    const auto text = [&](const char* name) {
        const auto found = request.query.find(name);
        if (found == request.query.end()) return std::string();
        if (found->second.empty() || found->second.size() > kLongestFilter)
            errors.push_back({name, "must have 1 to " + std::to_string(kLongestFilter) + " bytes"});
        return found->second;
    };
    AuditFilter filter{.actor = text("actor"), .action = text("action"), .subject = text("subject")};
    return value_or_errors(std::move(filter), std::move(errors), "the question");
}

/// The id that a page begins below; 0 for the first page.
Result<std::int64_t> parse_before(const std::string& after)
{
    std::int64_t before = 0;
    if (after.empty()) return before;
    const auto [end, error] = std::from_chars(after.data(), after.data() + after.size(), before);
    if (error != std::errc() || end != after.data() + after.size() || before <= 0)
        return Error(Errc::kInvalid, "the question has 1 error", {{"page_token", "is not one that we gave"}});
    return before;
}

asio::awaitable<net::Response> list_entries(Database* database, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request, {"actor", "action", "subject"});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<AuditFilter> filter = parse_filter(call.request);
    if (!filter) co_return net::problem(filter.error(), call.request.request_id);
    const Result<std::int64_t> before = parse_before(page->after);
    if (!before) co_return net::problem(before.error(), call.request.request_id);
    // One more than asked tells whether there is a next page.
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<AuditEntry>> {
        return list_audit_log(transaction, *filter, *before, page->size + 1);
    };
    Result<std::vector<AuditEntry>> entries = co_await database->run(work);
    if (!entries) co_return net::problem(entries.error(), call.request.request_id);
    std::string next_after;
    if (static_cast<std::int64_t>(entries->size()) > page->size) {
        entries->pop_back();
        next_after = std::to_string(entries->back().id);
    }
    Json items = Json::array();
    for (const AuditEntry& entry : *entries)
        items.push_back(to_json(entry));
    co_return page_response(std::move(items), next_after);
}

} // namespace

void add_audit_routes(ApiRouter& router, Database& database)
{
    router.add(net::Method::kGet, "/audit-log", Permission::kReadAuditLog,
               [target = &database](Call call) { return list_entries(target, std::move(call)); });
}

} // namespace fathom::server
