#include "server/billing/export_stream.hpp"

#include "server/billing/ledger_store.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr std::int64_t kRowsOfPage = 4000;

template <class T>
const T& or_throw(const Result<T>& result)
{
    if (!result) throw_exception_from_error(result.error(), BOOST_CURRENT_LOCATION);
    return *result;
}

Result<std::string> text_of(const ExportRequest& request, const ChargePage& page)
{
    constexpr std::size_t kTypicalRow = 700;
    std::string text;
    text.reserve(page.rows.size() * kTypicalRow);
    for (const ChargeRow& row : page.rows) {
        if (request.format == ExportFormat::kFocus)
            append_focus_row(text, row, request.focus);
        else
            append_json_line(text, row);
    }
    return text;
}

Result<std::string> text_of(const ExportRequest& request, const std::vector<UsageRecord>& records)
{
    std::string text;
    for (const UsageRecord& usage : records) {
        // What never ran is no job to accounting, and neither are storage and reservations.
        if (usage.kind != UsageKind::kCompute || usage.until == usage.from) continue;
        if (request.format == ExportFormat::kApelJobs)
            append_apel_job(text, usage, request.service_level);
        else
            append_sacct_line(text, usage);
    }
    return text;
}

/// The hash before the entry, the text that it covers, and the hash, for whoever computes the chain.
Result<std::string> text_of(const std::vector<PostedEntry>& entries)
{
    std::string text;
    for (const PostedEntry& posted : entries) {
        const Json line = {{"seq", posted.entry.seq},
                           {"previous_sha256", posted.previous_sha256},
                           {"text", ledger_text(posted.entry)},
                           {"sha256", posted.sha256}};
        text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    return text;
}

asio::awaitable<bool> send(std::shared_ptr<net::BodyWriter> writer, std::string text)
{
    if (text.empty()) co_return true;
    const Result<void> sent = co_await writer->write(std::move(text));
    co_return sent.has_value();
}

asio::awaitable<void> stream_charges(Database& database, ComputePool& compute,
                                     std::shared_ptr<const ExportRequest> request,
                                     std::shared_ptr<net::BodyWriter> writer)
{
    auto begin = [request](pqxx::work& transaction) -> Result<std::int64_t> {
        return select_first_seq(transaction, request->charges);
    };
    std::shared_ptr<const void> turn_to_begin = co_await request->turns.take();
    const Result<std::int64_t> first = co_await database.run(std::move(begin));
    turn_to_begin.reset();
    ChargePosition position{or_throw(first), 0};
    for (bool is_last = false; !is_last;) {
        auto read = [request, position](pqxx::work& transaction) -> Result<std::shared_ptr<const ChargePage>> {
            return std::make_shared<const ChargePage>(
                select_charges(transaction, request->charges, position, kRowsOfPage));
        };
        std::shared_ptr<const void> turn = co_await request->turns.take();
        const Result<std::shared_ptr<const ChargePage>> page = co_await database.run(std::move(read));
        turn.reset(); // not while the reader takes its time
        const ChargePage& rows = *or_throw(page);
        is_last = static_cast<std::int64_t>(rows.rows.size()) < kRowsOfPage;
        if (!rows.rows.empty()) position = {rows.rows.back().seq, rows.rows.back().line};
        auto render = [request, page = *page] { return text_of(*request, *page); };
        Result<std::string> text = co_await compute.run("", std::move(render));
        or_throw(text);
        const bool is_there = co_await send(writer, std::move(*text));
        if (!is_there) co_return;
    }
}

asio::awaitable<void> stream_usage(Database& database, ComputePool& compute,
                                   std::shared_ptr<const ExportRequest> request,
                                   std::shared_ptr<net::BodyWriter> writer)
{
    std::int64_t after = 0;
    for (bool is_last = false; !is_last;) {
        auto read = [request, after](pqxx::work& transaction) -> Result<std::shared_ptr<std::vector<UsageRecord>>> {
            return std::make_shared<std::vector<UsageRecord>>(
                select_usage_after(transaction, request->usage, after, kRowsOfPage));
        };
        std::shared_ptr<const void> turn = co_await request->turns.take();
        const Result<std::shared_ptr<std::vector<UsageRecord>>> page = co_await database.run(std::move(read));
        turn.reset(); // not while the reader takes its time
        const std::vector<UsageRecord>& records = *or_throw(page);
        is_last = static_cast<std::int64_t>(records.size()) < kRowsOfPage;
        if (!records.empty()) after = records.back().id;
        auto render = [request, page = *page] { return text_of(*request, *page); };
        Result<std::string> text = co_await compute.run("", std::move(render));
        or_throw(text);
        const bool is_there = co_await send(writer, std::move(*text));
        if (!is_there) co_return;
    }
}

asio::awaitable<void> stream_summaries(Database& database, std::shared_ptr<const ExportRequest> request,
                                       std::shared_ptr<net::BodyWriter> writer)
{
    auto read = [request](pqxx::work& transaction) -> Result<std::string> {
        std::string text;
        for (const UsageSummary& summary : select_usage_summaries(transaction, request->usage))
            append_apel_summary(text, summary, request->service_level);
        return text;
    };
    std::shared_ptr<const void> turn = co_await request->turns.take();
    Result<std::string> text = co_await database.run(std::move(read));
    turn.reset();
    or_throw(text);
    co_await send(writer, std::move(*text));
}

asio::awaitable<void> stream_ledger(Database& database, ComputePool& compute,
                                    std::shared_ptr<const ExportRequest> request,
                                    std::shared_ptr<net::BodyWriter> writer)
{
    std::int64_t after = 0;
    for (bool is_last = false; !is_last;) {
        auto read = [after](pqxx::work& transaction) -> Result<std::shared_ptr<std::vector<PostedEntry>>> {
            return std::make_shared<std::vector<PostedEntry>>(select_entries(transaction, after, kRowsOfPage));
        };
        std::shared_ptr<const void> turn = co_await request->turns.take();
        const Result<std::shared_ptr<std::vector<PostedEntry>>> page = co_await database.run(std::move(read));
        turn.reset(); // not while the reader takes its time
        std::vector<PostedEntry>& entries = *or_throw(page);
        while (!entries.empty() && entries.back().entry.seq > request->charges.last_seq)
            entries.pop_back();
        is_last = static_cast<std::int64_t>(entries.size()) < kRowsOfPage;
        if (!entries.empty()) after = entries.back().entry.seq;
        auto render = [page = *page] { return text_of(*page); };
        Result<std::string> text = co_await compute.run("", std::move(render));
        or_throw(text);
        const bool is_there = co_await send(writer, std::move(*text));
        if (!is_there) co_return;
    }
}

std::string head_of(const ExportRequest& request)
{
    switch (request.format) {
    case ExportFormat::kFocus:
        return focus_head(request.focus);
    case ExportFormat::kApelJobs:
        return kApelJobHead;
    case ExportFormat::kApelSummaries:
        return kApelSummaryHead;
    case ExportFormat::kJsonLines:
    case ExportFormat::kLedger:
    case ExportFormat::kSacct:
        return {};
    }
    return {};
}

} // namespace

asio::awaitable<Result<ExportRequest>> settle_export(Database& database, ExportRequest request)
{
    if (request.charges.last_seq == 0) {
        auto read = [](pqxx::work& transaction) -> Result<std::int64_t> { return select_head(transaction).seq; };
        const Result<std::int64_t> last = co_await database.run(std::move(read));
        if (!last) co_return last.error();
        request.charges.last_seq = *last;
    }
    co_return request;
}

asio::awaitable<void> stream_export(Database& database, ComputePool& compute, ExportRequest request,
                                    std::shared_ptr<net::BodyWriter> writer)
{
    const auto shared = std::make_shared<const ExportRequest>(std::move(request));
    const bool is_there = co_await send(writer, head_of(*shared));
    if (!is_there) co_return;
    switch (shared->format) {
    case ExportFormat::kFocus:
    case ExportFormat::kJsonLines:
        co_await stream_charges(database, compute, shared, writer);
        break;
    case ExportFormat::kLedger:
        co_await stream_ledger(database, compute, shared, writer);
        break;
    case ExportFormat::kApelSummaries:
        co_await stream_summaries(database, shared, writer);
        break;
    case ExportFormat::kApelJobs:
    case ExportFormat::kSacct:
        co_await stream_usage(database, compute, shared, writer);
        break;
    }
}

bool is_of_ledger(ExportFormat format)
{
    return format == ExportFormat::kFocus || format == ExportFormat::kJsonLines || format == ExportFormat::kLedger;
}

const char* content_type_of(ExportFormat format)
{
    if (format == ExportFormat::kFocus) return "text/csv; charset=utf-8";
    if (format == ExportFormat::kJsonLines || format == ExportFormat::kLedger) return "application/x-ndjson";
    return "text/plain; charset=utf-8";
}

} // namespace fathom::server
