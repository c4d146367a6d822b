#include "server/centers/authority_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/idempotency.hpp"
#include "server/centers/authority_store.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/replica_record.hpp"
#include "server/identity/rotation_step.hpp"
#include "server/store/column.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

/// New certificates that agents ask for in a second, at most about.
constexpr std::int64_t kRenewalsPerSecond = 20;
constexpr std::size_t kListedCenters = 1000; ///< of those that the next step waits for
constexpr std::size_t kAuditedCenters = 100; ///< of those that a forced step cut off

/// How far a rotation is, and what its next step waits for.
struct RotationState {
    AuthorityCertificates certificates;
    std::int64_t center_count{}; ///< that have a certificate
    std::vector<WaitingCenter> waits_for;
    std::vector<KnownReplica> replicas;
};

std::vector<WaitingCenter> centers_waited_for(pqxx::transaction_base& transaction,
                                              const AuthorityCertificates& certificates)
{
    switch (certificates.phase()) {
    case RotationPhase::kNone:
        return {};
    case RotationPhase::kBegun:
        return select_centers_not_trusting(transaction, certificates.next->facts.sha256_hex);
    case RotationPhase::kSwitched:
        return select_centers_left_behind(transaction, certificates.current.facts.sha256_hex);
    }
    return {};
}

Result<RotationState> read_rotation(pqxx::transaction_base& transaction)
{
    Result<AuthorityCertificates> certificates = lock_authorities(transaction);
    if (!certificates) return certificates.error();
    std::vector<WaitingCenter> waits_for = centers_waited_for(transaction, *certificates);
    std::vector<KnownReplica> replicas = select_replicas(transaction, certificates->sha256_hex());
    return RotationState{.certificates = std::move(*certificates),
                         .center_count = count_certified_centers(transaction),
                         .waits_for = std::move(waits_for),
                         .replicas = std::move(replicas)};
}

Json to_json(const std::optional<AuthorityCertificate>& certificate)
{
    if (!certificate) return nullptr;
    return {{"sha256", certificate->facts.sha256_hex},
            {"common_name", certificate->facts.common_name},
            {"not_before", format_rfc3339(certificate->facts.not_before)},
            {"not_after", format_rfc3339(certificate->facts.not_after)},
            {"since", format_rfc3339(certificate->since)}};
}

Json to_json(const KnownReplica& replica)
{
    return {{"id", replica.self.id.value},
            {"host", replica.self.host},
            {"version", replica.self.version},
            {"state", to_string(replica.state)},
            {"signer_sha256", replica.signer_sha256},
            {"trusted_since", format_rfc3339(replica.trusted_since)},
            {"seen_at", format_rfc3339(replica.seen_at)}};
}

Json to_json(const RotationState& state)
{
    Json centers = Json::array();
    for (std::size_t i = 0; i < std::min(state.waits_for.size(), kListedCenters); ++i) {
        const WaitingCenter& center = state.waits_for[i];
        centers.push_back({{"center_id", center.id},
                           {"center_name", center.name},
                           {"agent_version", text_or_null(center.agent_version)},
                           {"last_seen_at", time_json(center.last_seen_at)},
                           {"reason", center.reason}});
    }
    Json replicas = Json::array();
    for (const KnownReplica& replica : state.replicas)
        replicas.push_back(to_json(replica));
    const AuthorityCertificates& certificates = state.certificates;
    return {{"phase", to_string(certificates.phase())},
            {"current", to_json(std::optional(certificates.current))},
            {"next", to_json(certificates.next)},
            {"past", to_json(certificates.past)},
            {"ca_pem", certificates.bundle_pem()},
            {"center_count", state.center_count},
            {"waits_for_count", state.waits_for.size()},
            {"waits_for", std::move(centers)},
            {"replicas", std::move(replicas)}};
}

struct StepOrder {
    RotationStep step{};
    bool is_forced{};
};

Result<StepOrder> parse_step_order(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    StepOrder order;
    const std::string step = reader.required_string("step", {.one_of = rotation_step_names()});
    order.step = parse_rotation_step(step).value_or(RotationStep::kBegin); // an unknown one was reported above
    order.is_forced = reader.optional_boolean("force").value_or(false);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(order, std::move(errors), "the step of the rotation");
}

Result<void> take_step(pqxx::work& transaction, RotationStep step, const RotationState& state,
                       const AuthorityKeyFile& file)
{
    switch (step) {
    case RotationStep::kBegin:
        adopt_certificates(transaction, state.certificates.current.facts.sha256_hex);
        return add_next_authority(transaction, file);
    case RotationStep::kSwitch:
        switch_authority(transaction, std::chrono::seconds(1 + state.center_count / kRenewalsPerSecond));
        return {};
    case RotationStep::kFinish:
        leave_behind(transaction, state.certificates.current.facts.sha256_hex);
        drop_past_authority(transaction);
        return {};
    case RotationStep::kCancel:
        drop_next_authority(transaction);
        return {};
    }
    return {};
}

/// Of the step itself and of those that it cut off.
void note_step(pqxx::work& transaction, const Caller& caller, const StepOrder& order, const RotationState& before,
               const RotationState& after)
{
    const bool cuts_off = order.step == RotationStep::kSwitch || order.step == RotationStep::kFinish;
    Json cut_off = Json::array();
    for (std::size_t i = 0; cuts_off && i < std::min(before.waits_for.size(), kAuditedCenters); ++i)
        cut_off.push_back(before.waits_for[i].name);
    const std::string signer = after.certificates.current.facts.sha256_hex;
    audit(transaction, caller.actor, "authority." + std::string(to_string(order.step)), signer, caller.request_id,
          {{"trusted_sha256", after.certificates.sha256_hex()}, {"force", order.is_forced}, {"cut_off", cut_off}});
    log_after_commit(LogLevel::kInfo, "authority_rotation",
                     {{"step", std::string(to_string(order.step))},
                      {"signer_sha256", signer},
                      {"phase", std::string(to_string(after.certificates.phase()))},
                      {"cut_off", cut_off.size()}});
}

Result<RotationState> rotate(pqxx::work& transaction, const Caller& caller, const StepOrder& order,
                             const AuthorityKeyFile& file)
{
    const Result<RotationState> before = read_rotation(transaction);
    if (!before) return before.error();
    const Result<void> may =
        check_rotation_step(order.step, before->certificates.phase(), before->waits_for, order.is_forced);
    if (!may) return may.error();
    if (const Result<void> taken = take_step(transaction, order.step, *before, file); !taken) return taken.error();
    Result<RotationState> after = read_rotation(transaction);
    if (!after) return after;
    note_step(transaction, caller, order, *before, *after);
    notify(transaction, "authority", "");
    return after;
}

Answer get_authority(Database* database, Call call)
{
    auto work = [](pqxx::work& transaction) { return read_rotation(transaction); };
    const Result<RotationState> state = co_await database->run(std::move(work));
    if (!state) co_return net::problem(state.error(), call.request.request_id);
    co_return json_response(200, to_json(*state));
}

Answer rotate_authority(Database* database, AuthorityKeyFile file, Call call)
{
    const Result<StepOrder> order = parse_step_order(call);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    auto work = [&](pqxx::work& transaction) { return rotate(transaction, caller_of(call), *order, file); };
    const Result<RotationState> state = co_await database->run(std::move(work));
    if (!state) co_return net::problem(state.error(), call.request.request_id);
    co_return json_response(200, to_json(*state));
}

} // namespace

void add_authority_routes(ApiRouter& router, Database& database, AuthorityKeyFile file)
{
    router.add(net::Method::kGet, "/authority", Permission::kManageAuthority,
               [target = &database](Call call) { return get_authority(target, std::move(call)); });
    ApiHandler rotate_handler = [target = &database, file = std::move(file)](Call call) {
        return rotate_authority(target, file, std::move(call));
    };
    router.add(net::Method::kPost, "/authority:rotate", Permission::kManageAuthority,
               idempotent(database, std::move(rotate_handler)));
}

} // namespace fathom::server
