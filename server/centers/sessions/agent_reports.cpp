#include "core/base/log.hpp"
#include "server/centers/catalog_change.hpp"
#include "server/centers/gpus/gpu_pairs_store.hpp"
#include "server/centers/gpus/job_gpus_store.hpp"
#include "server/centers/gpus/shared_gpus_store.hpp"
#include "server/centers/sessions/agent_session.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

// What a session does with what its agent reports, but for how far attempts are.
namespace fathom::server {

asio::awaitable<Result<void>> AgentSession::apply(MessageId id, link::Body body)
{
    if (auto* output = std::get_if<link::AttemptOutput>(&body))
        co_return co_await parts_.gateway->attempt_output(reporter(), std::move(*output));
    if (auto* report = std::get_if<link::QueueReport>(&body)) co_return co_await note_queues(std::move(*report));
    if (auto* changed = std::get_if<link::CatalogChanged>(&body))
        co_return co_await change_catalog(std::move(changed->catalog));
    if (auto* answer = std::get_if<link::UnitTypesAnswer>(&body)) co_return co_await note_answer(std::move(*answer));
    if (auto* piece = std::get_if<link::KeptFilePiece>(&body)) co_return co_await take_piece(std::move(*piece));
    if (auto* request = std::get_if<link::ProbeRequest>(&body)) co_return co_await note_request(std::move(*request));
    if (auto* state = std::get_if<link::SubUnitState>(&body)) co_return co_await take_sub_units(std::move(*state));
    if (auto* request = std::get_if<link::SubUnitRequest>(&body))
        co_return co_await take_sub_unit_request(std::move(id), std::move(*request));
    if (auto* report = std::get_if<GpuMemoryReport>(&body)) co_return co_await take_gpu_memory(std::move(*report));
    if (auto* state = std::get_if<ResourceState>(&body)) co_return co_await take_resource_state(std::move(*state));
    if (auto* steps = std::get_if<BalanceSteps>(&body)) co_return co_await take_balance(std::move(*steps));
    if (auto* asked = std::get_if<link::RenewCertificate>(&body))
        co_return co_await renew(std::move(asked->request_pem));
    co_return Error{Errc::kInvalid, "an agent does not send " + std::string(link::type_name(body)) + " here"};
}

asio::awaitable<Result<void>> AgentSession::change_catalog(Catalog catalog)
{
    if (const Result<void> good = check_facts(catalog); !good) co_return good;
    co_await keep_to(catalog_pace_);
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        // A superseded session must not undo what the newer one reported.
        if (!holds_session(transaction, grant_)) return Error{Errc::kUnavailable, "the session is superseded"};
        const bool facts_changed = store_facts(transaction, grant_, catalog.facts);
        const Result<bool> units_changed = take_catalog(transaction, grant_.center_id, catalog);
        if (!units_changed) return units_changed.error();
        if (facts_changed || *units_changed) notify(transaction, "catalog", grant_.center_id.value);
        if (*units_changed) notify(transaction, "route", "");
        return {};
    };
    co_return co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<void> AgentSession::keep_to(MessagePace& pace)
{
    const auto now = std::chrono::steady_clock::now();
    const auto pause = pace.take(now);
    if (pause <= pause.zero()) co_return;
    asio::steady_timer wait(executor_);
    wait.expires_at(now + pause);
    co_await wait.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<Result<void>> AgentSession::note_request(link::ProbeRequest request)
{
    if (contains_nul(request.reason)) co_return Error{Errc::kInvalid, "the reason holds a NUL character"};
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (!holds_session(transaction, grant_)) return Error{Errc::kUnavailable, "the session is superseded"};
        note_probe_request(transaction, grant_.center_id, request.reason);
        return {};
    };
    co_return co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<Result<void>> AgentSession::note_answer(link::UnitTypesAnswer answer)
{
    for (const link::UnableUnitType& type : answer.unable) {
        if (contains_nul(type.reason)) co_return Error{Errc::kInvalid, "a reason holds a NUL character"};
    }
    co_return co_await questions_.answered(grant_, std::move(answer));
}

asio::awaitable<Result<void>> AgentSession::take_piece(link::KeptFilePiece piece)
{
    co_await files_.take(grant_, std::move(piece));
    if (files_.has_more()) ask_for_pieces(); // there is room for another one
    co_return Result<void>();
}

asio::awaitable<Result<void>> AgentSession::take_sub_units(link::SubUnitState state)
{
    if (parts_.sub_units == nullptr) co_return Error{Errc::kInvalid, "sub-units are not moved here"};
    co_await keep_to(sub_unit_pace_);
    co_return co_await parts_.sub_units->take_state(reporter(), std::move(state));
}

asio::awaitable<Result<void>> AgentSession::take_sub_unit_request(MessageId id, link::SubUnitRequest request)
{
    if (parts_.sub_units == nullptr) co_return Error{Errc::kInvalid, "sub-units are not moved here"};
    co_await keep_to(sub_unit_pace_);
    co_return co_await parts_.sub_units->take_request(reporter(), std::move(id), std::move(request));
}

asio::awaitable<Result<void>> AgentSession::note_queues(link::QueueReport report)
{
    const bool is_of_catalog = !report.unit_types.empty();
    const CatalogNotice notice = is_of_catalog ? notices_.take() : CatalogNotice::kNow;
    Result<void> noted = co_await parts_.gateway->note_queues(reporter(), std::move(report), notice);
    if (noted && notice == CatalogNotice::kLater) notices_.later();
    co_return noted;
}

asio::awaitable<Result<void>> AgentSession::take_gpu_memory(GpuMemoryReport report)
{
    const CatalogNotice notice = notices_.take();
    auto work = [&](pqxx::work& transaction) -> Result<bool> {
        // A superseded session must not undo what the newer one reported.
        if (!holds_session(transaction, grant_)) return Error{Errc::kUnavailable, "the session is superseded"};
        const bool is_new = replace_shared_gpus(transaction, grant_.center_id, report);
        keep_gpus_of_attempts(transaction, grant_.center_id, report);
        keep_gpu_pairs(transaction, grant_.center_id, report.pairs);
        if (is_new && notice == CatalogNotice::kNow) notify(transaction, "catalog", grant_.center_id.value);
        return is_new;
    };
    const Result<bool> is_new = co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    if (!is_new) co_return is_new.error();
    if (*is_new && notice == CatalogNotice::kLater) notices_.later();
    co_return Result<void>();
}

/// More than the welcome allows is refused: an agent that does not keep to it would fill the database.
asio::awaitable<Result<void>> AgentSession::take_balance(BalanceSteps steps)
{
    if (parts_.balance == nullptr || std::ssize(steps.steps) > options_.balance_steps)
        co_return Error{Errc::kInvalid, "more steps of balance loops than the welcome asked for"};
    const auto now = std::chrono::steady_clock::now();
    if (now < next_balance_) {
        // What waits behind it in this session's queue waits with it.
        asio::steady_timer wait(executor_);
        wait.expires_at(next_balance_);
        co_await wait.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    next_balance_ = std::max(now, next_balance_) + options_.balance_pause / 2;
    co_return co_await parts_.balance->take_steps(reporter(), std::move(steps));
}

asio::awaitable<Result<void>> AgentSession::renew(std::string request_pem)
{
    Result<std::string> certificate =
        co_await parts_.enrolment->renew(grant_.center_id, certificate_.serial_hex, std::move(request_pem));
    if (!certificate) co_return certificate.error();
    log_info("agent_certificate_renewed", {{"center", grant_.center_name}});
    send(link::RenewedCertificate{std::move(*certificate)});
    co_return Result<void>();
}

} // namespace fathom::server
