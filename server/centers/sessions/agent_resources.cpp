#include "core/base/log.hpp"
#include "server/centers/resources_store.hpp"
#include "server/centers/sessions/agent_session.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/transaction.hpp"

// What a session tells its agent of what the center is to have (R8), to offer (M9), to match with (M3) and to trust,
// and hears of what it does offer and trust.
namespace fathom::server {

asio::awaitable<void> AgentSession::offer_targets()
{
    if (!target_pending_ || ended_ || parts_.sub_units == nullptr) co_return;
    target_pending_ = false;
    const Result<std::vector<link::SubUnitTarget>> targets = co_await parts_.sub_units->targets(reporter());
    if (!targets) {
        target_pending_ = true; // the next tick looks again
        log_warning("sub_unit_targets_failed", {{"center", grant_.center_name}, {"error", describe(targets.error())}});
        co_return;
    }
    for (const link::SubUnitTarget& target : *targets) {
        SentTarget& sent = targets_[target.kind];
        const bool tells_refusal = target.refusal && target.refusal->request != sent.refused;
        if (ended_ || (sent.version >= target.version && !tells_refusal)) continue;
        sent.version = target.version;
        if (target.refusal) sent.refused = target.refusal->request;
        send(target);
    }
}

asio::awaitable<void> AgentSession::offer_resources()
{
    if (!resources_pending_ || ended_) co_return;
    resources_pending_ = false;
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<ResourceOrder>> {
        return select_resource_order(transaction, grant_.center_id);
    };
    const Result<std::optional<ResourceOrder>> order =
        co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    if (!order) {
        resources_pending_ = true; // the next tick looks again
        log_warning("resource_order_failed", {{"center", grant_.center_name}, {"error", describe(order.error())}});
        co_return;
    }
    // An agent that was never told anything offers what its own file says already.
    const bool is_nothing = *order && (*order)->version == 0 && !sent_resources_ && !undoes_resources_;
    if (ended_ || !*order || is_nothing || sent_resources_ == **order) co_return;
    sent_resources_ = **order;
    send(**order);
    log_info("resource_order_sent", {{"center", grant_.center_name}, {"version", (*order)->version}});
}

void AgentSession::offer_library()
{
    if (!library_pending_ || ended_) return;
    library_pending_ = false;
    if (parts_.library == nullptr || !library_digest_) return;
    const std::shared_ptr<const link::MatchLibrary> library = parts_.library->match_library();
    if (library->digest == *library_digest_) return;
    library_digest_ = library->digest;
    send(*library);
    log_info("match_library_sent", {{"center", grant_.center_name}, {"digest", library->digest}});
}

void AgentSession::offer_authorities()
{
    if (!authorities_pending_ || ended_) return;
    authorities_pending_ = false;
    if (!trusted_) return;
    const std::shared_ptr<const NetworkAuthorities> authorities = parts_.enrolment->authorities();
    const AuthorityCertificates& certificates = authorities->certificates;
    std::vector<std::string> wanted = certificates.sha256_hex();
    // While certificates are renewed, an agent that trusts them all may yet have one of the past authority.
    const bool is_known = *trusted_ == wanted && certificates.phase() != RotationPhase::kSwitched;
    if (told_authorities_ == wanted || (told_authorities_.empty() && is_known)) return;
    link::TrustedAuthorities told{.certificates_pem = certificates.bundle_pem(),
                                  .signer_sha256 = certificates.current.facts.sha256_hex,
                                  .renew_within_s = std::chrono::duration<double>(authorities->renew_within).count()};
    const link::Message message = link::make_message(std::move(told));
    told_authorities_ = std::move(wanted);
    told_by_ = message.id;
    log_info("authorities_sent",
             {{"center", grant_.center_name}, {"signer_sha256", certificates.current.facts.sha256_hex}});
    if (!socket_->send(link::encode(message))) end("the agent reads too slowly");
}

/// The agent has them on its disk, or cannot have them.
asio::awaitable<void> AgentSession::note_trust(link::Ack ack)
{
    told_by_ = {};
    if (ack.error) {
        log_refusal(*ack.error, "");
        co_return;
    }
    trusted_ = told_authorities_;
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        store_trusted_authorities(transaction, grant_, trusted_);
        return {};
    };
    const Result<void> stored = co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    // What could not be written down now, the agent's next greeting says again.
    if (!stored) log_refusal(stored.error(), "");
}

asio::awaitable<Result<void>> AgentSession::take_resource_state(ResourceState state)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<ResourceOrder>> {
        // A superseded session must not undo what the newer one reported.
        if (!holds_session(transaction, grant_)) return Error{Errc::kUnavailable, "the session is superseded"};
        const bool is_new = put_resource_state(transaction, grant_.center_id, state);
        if (is_new)
            log_after_commit(LogLevel::kInfo, "center_resources_reported",
                             {{"center", grant_.center_name},
                              {"center_id", grant_.center_id.value},
                              {"version", state.version},
                              {"state", state.state},
                              {"differences", state.differences.size()}});
        return select_resource_order(transaction, grant_.center_id);
    };
    const Result<std::optional<ResourceOrder>> order =
        co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    if (!order) co_return order.error();
    // It follows an order that is not known here any more, of before the database was put back, say.
    if (*order && (*order)->version == 0 && state.version > 0 && !undoes_resources_) {
        undoes_resources_ = true;
        reconfigure();
    }
    co_return Result<void>();
}

} // namespace fathom::server
