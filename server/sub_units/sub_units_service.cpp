#include "server/sub_units/sub_units_service.hpp"

#include "core/base/utf8_prefix.hpp"
#include "core/decide/sub_units/wanted_count.hpp"
#include "server/identity/audit.hpp"
#include "server/sub_units/sub_units_broker.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <set>

namespace fathom::server {
namespace {

Result<void> check_session(pqxx::work& transaction, const Reporter& reporter)
{
    if (!reporter.epoch || is_center_session(transaction, reporter.center_id.value, *reporter.epoch)) return {};
    return Error{Errc::kUnavailable, "the session is superseded"};
}

Result<void> check_texts(const link::SubUnitState& state)
{
    std::set<std::string> kinds;
    for (const link::SubUnitHolding& holding : state.holdings) {
        if (!kinds.insert(holding.kind).second) return Error{Errc::kInvalid, "names kind " + holding.kind + " twice"};
        if (contains_nul(holding.kind) || contains_nul(holding.unit_type) || contains_nul(holding.refusal))
            return Error{Errc::kInvalid, "a text holds a NUL character"};
    }
    return {};
}

/// Kinds that a center has said stay: it must not make ever more of them.
Result<void> check_kinds(pqxx::work& transaction, const CenterId& center, const link::SubUnitState& state)
{
    constexpr std::size_t kMaxKinds = 100; // as many as one report may name
    std::set<std::string> kinds;
    for (const link::SubUnitHolding& holding : state.holdings)
        kinds.insert(holding.kind);
    for (const SubUnitHoldingRecord& holding : select_center_sub_units(transaction, center.value))
        kinds.insert(holding.kind);
    if (kinds.size() <= kMaxKinds) return {};
    return Error{Errc::kInvalid, "a center has at most " + std::to_string(kMaxKinds) + " kinds of sub-units"};
}

/// By kind, the requests among these that were refused.
std::map<std::string, link::SubUnitRefusal> refusals_of(const std::vector<SubUnitRequestRecord>& requests)
{
    std::map<std::string, link::SubUnitRefusal> refusals;
    for (const SubUnitRequestRecord& request : requests) {
        if (request.state != "refused") continue;
        refusals[request.kind] = {.request = {request.message_id},
                                  .reason = std::string(utf8_prefix(request.end_reason, link::kMaxSubUnitRefusal))};
    }
    return refusals;
}

/// The request that was just made or changed, after everything that follows from it.
Result<SubUnitRequestRecord> finished(pqxx::work& transaction, SubUnitBroker& broker, const SubUnitRequestId& id)
{
    broker.advance();
    return select_sub_unit_request(transaction, id.value).value();
}

/// By how many sub-units a center is off what its loads ask for.
Result<SubUnitWanted> balanced(const SubUnitHoldingRecord& holding, const SubUnitsService::Wanted& wanted)
{
    const Result<std::int64_t> count =
        wanted_count(holding.target_held, {.transfer = wanted.transfer_load, .compute = wanted.compute_load});
    if (!count) return count.error();
    if (*count == holding.target_held)
        return Error{Errc::kConflict,
                     "center " + holding.center + " has just what it wants: " + std::to_string(*count)};
    const bool is_gain = *count > holding.target_held;
    return SubUnitWanted{.center_id = holding.center_id,
                         .action = is_gain ? "gain" : "release",
                         .count = is_gain ? *count - holding.target_held : holding.target_held - *count,
                         .reason = wanted.reason,
                         .actor = {}};
}

Result<SubUnitWanted> to_wanted(pqxx::work& transaction, const SubUnitBroker* broker,
                                const SubUnitsService::Wanted& wanted)
{
    const std::string center_id = select_center_id(transaction, wanted.center);
    if (center_id.empty())
        return Error(Errc::kInvalid, "the request has 1 error", {{"center", "there is no center " + wanted.center}});
    const SubUnitHoldingRecord* const holding = broker == nullptr ? nullptr : broker->find(center_id);
    if (holding == nullptr)
        return Error(Errc::kInvalid, "the request has 1 error",
                     {{"kind", "center " + wanted.center + " has no sub-units of kind " + wanted.kind}});
    if (wanted.action == "balance") return balanced(*holding, wanted);
    return SubUnitWanted{
        .center_id = center_id, .action = wanted.action, .count = wanted.count, .reason = wanted.reason, .actor = {}};
}

Result<SubUnitRequestRecord> ask_in(pqxx::work& transaction, const Caller& caller,
                                    const SubUnitsService::Wanted& wanted)
{
    std::optional<SubUnitBroker> broker = SubUnitBroker::open(transaction, wanted.kind);
    Result<SubUnitWanted> asked = to_wanted(transaction, broker ? &*broker : nullptr, wanted);
    if (!asked) return asked.error();
    asked->actor = caller.actor;
    const Result<SubUnitRequestId> id = broker->ask(*asked);
    if (!id) return id.error();
    audit(transaction, caller.actor, "sub_units." + asked->action, id->value, caller.request_id,
          {{"kind", wanted.kind}, {"center_id", asked->center_id}, {"count", asked->count}, {"reason", wanted.reason}});
    return finished(transaction, *broker, *id);
}

Result<SubUnitRequestRecord> cancel_in(pqxx::work& transaction, const Caller& caller, const std::string& id)
{
    const std::optional<SubUnitRequestRecord> request = select_sub_unit_request(transaction, id);
    if (!request) return Error{Errc::kNotFound, "there is no such request"};
    SubUnitBroker broker = SubUnitBroker::open(transaction, request->kind).value();
    if (const Result<void> cancelled = broker.cancel(request->id, caller.actor); !cancelled) return cancelled.error();
    if (request->state != "cancelled")
        audit(transaction, caller.actor, "sub_units.cancel", id, caller.request_id, {{"kind", request->kind}});
    return finished(transaction, broker, request->id);
}

Result<SubUnitRequestRecord> undo_in(pqxx::work& transaction, const Caller& caller, const std::string& grant_id)
{
    std::optional<SubUnitGrantRecord> grant = select_sub_unit_grant(transaction, grant_id);
    if (!grant) return Error{Errc::kNotFound, "there is no such grant"};
    SubUnitBroker broker = SubUnitBroker::open(transaction, grant->kind).value();
    grant = select_sub_unit_grant(transaction, grant_id); // as it is under the kind's lock
    if (!grant) return Error{Errc::kNotFound, "there is no such grant"};
    const bool is_new = broker.find_undo(grant->id) == nullptr;
    const Result<SubUnitRequestId> id = broker.undo(*grant, caller.actor);
    if (!id) return id.error();
    if (is_new)
        audit(transaction, caller.actor, "sub_units.undo", grant_id, caller.request_id,
              {{"kind", grant->kind}, {"request_id", id->value}, {"count", grant->count}});
    return finished(transaction, broker, *id);
}

} // namespace

asio::awaitable<Result<void>> SubUnitsService::take_state(Reporter reporter, link::SubUnitState state)
{
    if (Result<void> good = check_texts(state); !good) co_return good;
    // Kinds are locked in one order by all.
    std::sort(state.holdings.begin(), state.holdings.end(),
              [](const link::SubUnitHolding& a, const link::SubUnitHolding& b) { return a.kind < b.kind; });
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (Result<void> holds = check_session(transaction, reporter); !holds) return holds;
        if (Result<void> few = check_kinds(transaction, reporter.center_id, state); !few) return few;
        for (const link::SubUnitHolding& holding : state.holdings) {
            SubUnitBroker broker = SubUnitBroker::open_or_add(transaction, holding.kind);
            broker.take(reporter.center_id.value, holding);
            broker.advance();
        }
        return {};
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<Result<void>> SubUnitsService::take_request(Reporter reporter, MessageId message,
                                                            link::SubUnitRequest request)
{
    if (contains_nul(request.kind) || contains_nul(request.reason))
        co_return Error{Errc::kInvalid, "a text holds a NUL character"};
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (Result<void> holds = check_session(transaction, reporter); !holds) return holds;
        std::optional<SubUnitBroker> broker = SubUnitBroker::open(transaction, request.kind);
        if (!broker) return Error{Errc::kInvalid, "there are no sub-units of kind " + request.kind};
        if (select_sub_unit_request_of(transaction, reporter.center_id.value, message.value)) return {};
        if (request.action == "keep") {
            broker->withdraw(reporter.center_id.value, reporter.center_id.value);
            broker->advance();
            return {};
        }
        const Result<SubUnitRequestId> asked = broker->ask({.center_id = reporter.center_id.value,
                                                            .action = request.action,
                                                            .count = request.count,
                                                            .reason = request.reason,
                                                            .actor = reporter.center_id.value,
                                                            .message_id = message.value});
        if (!asked) return asked.error();
        broker->advance();
        return {};
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<Result<std::vector<link::SubUnitTarget>>> SubUnitsService::targets(Reporter reporter)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<link::SubUnitTarget>> {
        if (const Result<void> holds = check_session(transaction, reporter); !holds) return holds.error();
        const std::map<std::string, link::SubUnitRefusal> refusals =
            refusals_of(select_last_agent_requests(transaction, reporter.center_id.value));
        std::vector<link::SubUnitTarget> targets;
        for (const SubUnitHoldingRecord& holding : select_center_sub_units(transaction, reporter.center_id.value)) {
            targets.push_back({holding.kind, holding.version, holding.target_held, holding.target_offered});
            const auto refusal = refusals.find(holding.kind);
            if (refusal != refusals.end()) targets.back().refusal = refusal->second;
        }
        return targets;
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<Result<SubUnitRequestRecord>> SubUnitsService::ask(Caller caller, Wanted wanted)
{
    auto work = [&](pqxx::work& transaction) { return ask_in(transaction, caller, wanted); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<SubUnitRequestRecord>> SubUnitsService::cancel(Caller caller, std::string id)
{
    auto work = [&](pqxx::work& transaction) { return cancel_in(transaction, caller, id); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<SubUnitRequestRecord>> SubUnitsService::undo(Caller caller, std::string grant_id)
{
    auto work = [&](pqxx::work& transaction) { return undo_in(transaction, caller, grant_id); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<SubUnitRequestRecord>> SubUnitsService::get_request(std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<SubUnitRequestRecord> {
        std::optional<SubUnitRequestRecord> request = select_sub_unit_request(transaction, id);
        if (!request) return Error{Errc::kNotFound, "there is no such request"};
        return std::move(*request);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<SubUnitKindRecord>>> SubUnitsService::list_kinds(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<SubUnitKindRecord>> {
        return select_sub_unit_kinds(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<SubUnitRequestRecord>>> SubUnitsService::list_requests(SubUnitFilter filter,
                                                                                   std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<SubUnitRequestRecord>> {
        return select_sub_unit_requests(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<SubUnitGrantRecord>>> SubUnitsService::list_grants(SubUnitFilter filter, std::int64_t size,
                                                                               std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<SubUnitGrantRecord>> {
        return select_sub_unit_grants(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<SubUnitEventRecord>>> SubUnitsService::list_events(SubUnitFilter filter, std::int64_t size,
                                                                               std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<SubUnitEventRecord>> {
        return select_sub_unit_events(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

Result<void> SubUnitsService::look(pqxx::work& transaction)
{
    for (const std::string& kind : select_moving_sub_unit_kinds(transaction)) {
        if (std::optional<SubUnitBroker> broker = SubUnitBroker::open(transaction, kind)) broker->advance();
    }
    return {};
}

} // namespace fathom::server
