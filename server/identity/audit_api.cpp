#include "server/identity/audit_api.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/sha256.hpp"
#include "server/api/paging.hpp"
#include "server/api/query.hpp"
#include "server/identity/audit_chain.hpp"
#include "server/identity/audit_chain_store.hpp"
#include "server/identity/audit_store.hpp"

namespace fathom::server {
namespace {

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

Result<AuditFilter> parse_filter(const Query& query)
{
    AuditFilter filter;
    filter.actor = query_text(query, "actor");
    filter.action = query_text(query, "action");
    filter.subject = query_text(query, "subject");
    std::vector<FieldError> errors;
    filter.within = query_time_range(query, errors);
    return value_or_errors(std::move(filter), std::move(errors), "the query");
}

/// The id that a page begins below; 0 for the first page.
Result<std::int64_t> parse_before(const std::string& after)
{
    if (after.empty()) return std::int64_t{0};
    const auto before = parse_number<std::int64_t>(after);
    if (!before || *before <= 0)
        return Error(Errc::kInvalid, "the question has 1 error", {{"page_token", "is not one that we gave"}});
    return *before;
}

asio::awaitable<net::Response> list_entries(Database* database, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<AuditFilter> filter = parse_filter(call.request.query);
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

struct KnownHash {
    std::int64_t number{};
    std::string sha256;
};

/// `known=NUMBER:HASH`, noted when the chain was verified before.
Result<std::optional<KnownHash>> parse_known(const net::Request& request)
{
    const std::string text = query_text(request.query, "known");
    if (text.empty()) return std::optional<KnownHash>();
    const std::size_t colon = text.find(':');
    KnownHash known;
    if (colon != std::string::npos) {
        known.number = parse_number<std::int64_t>(std::string_view(text).substr(0, colon)).value_or(0);
        known.sha256 = text.substr(colon + 1);
        if (known.number > 0 && is_sha256(known.sha256)) return std::optional(std::move(known));
    }
    return Error(Errc::kInvalid, "the question has 1 error",
                 {{"known", "must be NUMBER:SHA256, as an earlier check said"}});
}

asio::awaitable<net::Response> verify(Database* database, ComputePool* compute, Call call)
{
    constexpr std::int64_t kPage = 2000;
    const Result<std::optional<KnownHash>> known = parse_known(call.request);
    if (!known) co_return net::problem(known.error(), call.request.request_id);
    auto begin = [](pqxx::work& transaction) -> Result<AuditChainEnds> { return find_audit_chain(transaction); };
    const Result<AuditChainEnds> ends = co_await database->run(begin);
    if (!ends) co_return net::problem(ends.error(), call.request.request_id);
    AuditChainCheck check(*ends);
    if (*known) check.expect((*known)->number, (*known)->sha256);
    // Not beyond the end that was read: what is chained meanwhile is the next check's.
    while (check.fault().empty() && check.number() < ends->last_number) {
        const std::int64_t wanted = std::min(kPage, ends->last_number - check.number());
        auto read = [&](pqxx::work& transaction) -> Result<std::vector<ChainedAct>> {
            return list_chained_acts(transaction, check.number(), wanted);
        };
        const Result<std::vector<ChainedAct>> acts = co_await database->run(read);
        if (!acts) co_return net::problem(acts.error(), call.request.request_id);
        if (acts->empty()) break;
        auto look = [&]() -> Result<void> {
            for (const ChainedAct& act : *acts)
                check.add(act);
            return {};
        };
        const Result<void> looked = co_await compute->run(call.principal.token_id.value, look);
        if (!looked) co_return net::problem(looked.error(), call.request.request_id);
    }
    check.finish();
    auto count = [](pqxx::work& transaction) -> Result<std::int64_t> { return count_unchained_acts(transaction); };
    const Result<std::int64_t> unchained = co_await database->run(count);
    if (!unchained) co_return net::problem(unchained.error(), call.request.request_id);
    co_return json_response(200, {{"acts", check.acts()},
                                  {"removed", ends->first_number},
                                  {"unchained", *unchained},
                                  {"last_number", check.number()},
                                  {"last_sha256", check.sha256()},
                                  {"fault", check.fault().empty() ? Json(nullptr) : Json(check.fault())},
                                  {"good", check.fault().empty()}});
}

} // namespace

void add_audit_routes(ApiRouter& router, Database& database, ComputePool& compute)
{
    router.add(net::Method::kGet, "/audit-log:verify", Permission::kReadAuditLog,
               [target = &database, pool = &compute](Call call) { return verify(target, pool, std::move(call)); });
    router.add(net::Method::kGet, "/audit-log", Permission::kReadAuditLog,
               [target = &database](Call call) { return list_entries(target, std::move(call)); });
}

} // namespace fathom::server
