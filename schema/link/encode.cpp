#include "core/base/secret.hpp"
#include "schema/link/kept_file.hpp"
#include "schema/link/messages.hpp"
#include "schema/link/told_cause.hpp"

namespace fathom::link {
namespace {

Json ids_json(const std::vector<AttemptId>& ids)
{
    Json json = Json::array();
    for (const AttemptId& id : ids)
        json.push_back(id.value);
    return json;
}

Json body_json(const Hello& hello)
{
    Json inventory = Json::array();
    for (const InventoryItem& item : hello.inventory) {
        inventory.push_back({{"attempt_id", item.attempt_id.value}, {"state", item.state}});
    }
    Json json = {{"agent_version", hello.agent_version},
                 {"catalog", to_json(hello.catalog)},
                 {"inventory", std::move(inventory)}};
    if (hello.library_digest) json["library_digest"] = *hello.library_digest;
    if (hello.authorities) json["authorities"] = *hello.authorities;
    if (!hello.host_id.empty()) json["host_id"] = hello.host_id;
    return json;
}

Json body_json(const Welcome& welcome)
{
    Json json = {{"server_version", welcome.server_version}, {"center_id", welcome.center_id},
                 {"center_name", welcome.center_name},       {"heartbeat_s", welcome.heartbeat_s},
                 {"stop", ids_json(welcome.stop)},           {"forget", ids_json(welcome.forget)}};
    if (welcome.balance_steps > 0) {
        json["balance_steps"] = welcome.balance_steps;
        json["balance_pause_s"] = welcome.balance_pause_s;
    }
    if (welcome.takes_queues) json["takes_queues"] = true;
    return json;
}

Json needs_json(const std::vector<OperatorNeed>& needs)
{
    Json json = Json::array();
    for (const OperatorNeed& need : needs)
        json.push_back({{"id", need.id}, {"uploaded", need.is_uploaded}});
    return json;
}

Json owner_json(const AttemptOwner& owner)
{
    Json json = {{"submitter", owner.submitter}, {"project", owner.project}};
    if (!owner.account.empty()) json["account"] = owner.account;
    return json;
}

Json body_json(const StartAttempt& start)
{
    const AttemptOrder& order = start.order;
    Json json = {{"attempt_id", order.attempt_id.value},
                 {"job_id", order.job_id.value},
                 {"name", order.name},
                 {"label", order.label},
                 {"unit_type", order.unit_type},
                 {"unit_count", order.unit_count},
                 {"center_chooses", order.center_chooses},
                 {"center_counts", order.center_counts},
                 {"operators", needs_json(order.operators)},
                 {"profile", order.profile},
                 {"environment", order.environment},
                 {"files", order.files},
                 {"wall_limit_s", order.wall_limit_s}};
    if (order.command.empty())
        json["script"] = order.script;
    else
        json["command"] = order.command;
    if (order.is_exclusive) json["exclusive"] = true;
    if (order.kernel_class != KernelClass::kUnknown) json["gpu_class"] = to_string(order.kernel_class);
    if (!order.gpu_kind.empty()) json["gpu_kind"] = order.gpu_kind;
    for (const GpuPair& pair : order.gpu_pairs)
        json["gpu_pairs"].push_back(to_json(pair));
    if (!order.known_operators.empty()) json["known_operators"] = order.known_operators;
    add_json(json, order.software);
    if (!order.inputs.empty()) json["inputs"] = to_json(order.inputs);
    if (!order.outputs.empty()) json["outputs"] = to_json(order.outputs);
    if (!order.owner.submitter.empty()) json["owner"] = owner_json(order.owner);
    return json;
}

Json body_json(const CancelAttempt& cancel)
{
    return {{"attempt_id", cancel.attempt_id.value}, {"reason", cancel.reason}};
}

Json body_json(const RecallAttempt& recall)
{
    return {{"attempt_id", recall.attempt_id.value}, {"reason", recall.reason}};
}

Json body_json(const AttemptStarted& started)
{
    Json json = {{"attempt_id", started.attempt_id.value},
                 {"started_at", format_rfc3339(started.started_at)},
                 {"cpus", started.cpus},
                 {"units", started.units},
                 {"unit_type", started.unit_type},
                 {"able_unit_types", started.able_unit_types}};
    if (started.neighbours) json["neighbours"] = to_json(*started.neighbours);
    return json;
}

Json body_json(const QueueReport& report)
{
    Json attempts = Json::array();
    for (const QueuedAttempt& one : report.attempts) {
        Json json = {{"attempt_id", one.attempt_id.value}, {"reason", one.reason}};
        if (one.expected_start) json["expected_start"] = format_rfc3339(*one.expected_start);
        attempts.push_back(std::move(json));
    }
    Json types = Json::array();
    for (const TypeQueue& one : report.unit_types) {
        Json json = {{"unit_type", one.unit_type}};
        if (one.expected_start) json["expected_start"] = format_rfc3339(*one.expected_start);
        types.push_back(std::move(json));
    }
    return {{"attempts", std::move(attempts)}, {"unit_types", std::move(types)}};
}

Json body_json(const AttemptOutput& output)
{
    return {{"attempt_id", output.attempt_id.value},
            {"stream", output.stream},
            {"offset_bytes", output.offset_bytes},
            {"data_base64", base64_encode(output.data)}};
}

/// What says most of the end to a server that does not know `exact_outcome`.
AttemptOutcome older_outcome(AttemptOutcome outcome)
{
    switch (outcome) {
    case AttemptOutcome::kOutOfMemory:
        return AttemptOutcome::kSignalled;
    case AttemptOutcome::kNodeFailure:
    case AttemptOutcome::kPreempted:
        return AttemptOutcome::kLost;
    case AttemptOutcome::kExited:
    case AttemptOutcome::kSignalled:
    case AttemptOutcome::kWallLimit:
    case AttemptOutcome::kCancelled:
    case AttemptOutcome::kFailedToStart:
    case AttemptOutcome::kLost:
        return outcome;
    }
    return outcome;
}

Json body_json(const AttemptEnded& ended)
{
    const AttemptEnd& end = ended.end;
    const AttemptOutcome older = older_outcome(end.outcome);
    Json json = {{"attempt_id", end.attempt_id.value},
                 {"outcome", to_string(older)},
                 {"detail", end.detail},
                 {"ended_at", format_rfc3339(end.ended_at)},
                 {"run_s", end.run_s},
                 {"cpu_s", end.cpu_s},
                 {"max_resident_bytes", end.max_resident_bytes},
                 {"stdout_bytes", end.stdout_bytes},
                 {"stderr_bytes", end.stderr_bytes}};
    if (older != end.outcome) json["exact_outcome"] = to_string(end.outcome);
    if (may_have_cause(end)) json["cause"] = to_string(end.cause);
    if (end.exit_code) json["exit_code"] = *end.exit_code;
    if (end.signal) json["signal"] = *end.signal;
    if (end.started_at) json["started_at"] = format_rfc3339(*end.started_at);
    if (!end.nodes.empty()) json["nodes"] = end.nodes;
    if (end.energy_j > 0) json["energy_j"] = end.energy_j;
    if (!end.profile.is_null()) json["profile"] = end.profile;
    if (!end.outputs.empty()) json["outputs"] = to_json(end.outputs);
    if (end.staging) json["staging"] = to_json(*end.staging);
    return json;
}

Json body_json(const CatalogChanged& changed)
{
    return {{"catalog", to_json(changed.catalog)}};
}

Json body_json(const UnitTypesQuery& query)
{
    return {{"query_id", query.query_id.value}, {"operators", needs_json(query.operators)}};
}

Json body_json(const UnitTypesAnswer& answer)
{
    Json able = Json::array();
    for (const AbleUnitType& type : answer.able)
        able.push_back({{"name", type.name}, {"unit_count", type.unit_count}, {"free_count", type.free_count}});
    Json unable = Json::array();
    for (const UnableUnitType& type : answer.unable)
        unable.push_back({{"name", type.name}, {"reason", type.reason}});
    return {{"query_id", answer.query_id.value}, {"able", std::move(able)}, {"unable", std::move(unable)}};
}

Json body_json(const KeptFileQuery& query)
{
    return to_json(query);
}

Json body_json(const KeptFilePiece& piece)
{
    return to_json(piece);
}

Json body_json(const ProbeRequest& request)
{
    return {{"reason", request.reason}};
}

Json body_json(const SubUnitState& state)
{
    Json holdings = Json::array();
    for (const SubUnitHolding& holding : state.holdings) {
        Json json = {{"kind", holding.kind},
                     {"unit_type", holding.unit_type},
                     {"sub_units_per_unit", holding.sub_units_per_unit},
                     {"registered_count", holding.registered_count},
                     {"most_count", holding.most_count},
                     {"version", holding.version},
                     {"held_count", holding.held_count},
                     {"offered_count", holding.offered_count}};
        if (holding.refused_version > 0) {
            json["refused_version"] = holding.refused_version;
            json["refusal"] = holding.refusal;
        }
        holdings.push_back(std::move(json));
    }
    return {{"holdings", std::move(holdings)}};
}

Json body_json(const SubUnitTarget& target)
{
    Json json = {{"kind", target.kind},
                 {"version", target.version},
                 {"held_count", target.held_count},
                 {"offered_count", target.offered_count}};
    if (target.refusal) {
        json["refused_request"] = target.refusal->request.value;
        json["refusal"] = target.refusal->reason;
    }
    return json;
}

Json body_json(const SubUnitRequest& request)
{
    return {{"kind", request.kind}, {"action", request.action}, {"count", request.count}, {"reason", request.reason}};
}

Json body_json(const GpuMemoryReport& report)
{
    return to_json(report);
}

Json body_json(const BalanceSteps& steps)
{
    return to_json(steps);
}

Json body_json(const ResourceOrder& order)
{
    return to_json(order);
}

Json body_json(const ResourceState& state)
{
    return to_json(state);
}

Json body_json(const MatchLibrary& library)
{
    return {{"digest", library.digest}, {"operators", library.operators}};
}

Json body_json(const Heartbeat& heartbeat)
{
    return {{"load_1min", heartbeat.load_1min},
            {"running_attempts", heartbeat.running_attempts},
            {"spooled_messages", heartbeat.spooled_messages}};
}

Json body_json(const RenewCertificate& renew)
{
    return {{"request_pem", renew.request_pem}};
}

Json body_json(const RenewedCertificate& renewed)
{
    return {{"certificate_pem", renewed.certificate_pem}};
}

Json body_json(const TrustedAuthorities& trusted)
{
    return {{"certificates_pem", trusted.certificates_pem},
            {"signer_sha256", trusted.signer_sha256},
            {"renew_within_s", trusted.renew_within_s}};
}

Json body_json(const Ack& ack)
{
    Json json = {{"of", ack.of.value}};
    if (ack.error) json["error"] = {{"code", to_string(ack.error->code)}, {"detail", ack.error->detail}};
    return json;
}

struct TypeName {
    std::string_view operator()(const Hello&) const { return "hello"; }
    std::string_view operator()(const Welcome&) const { return "welcome"; }
    std::string_view operator()(const StartAttempt&) const { return "start_attempt"; }
    std::string_view operator()(const CancelAttempt&) const { return "cancel_attempt"; }
    std::string_view operator()(const RecallAttempt&) const { return "recall_attempt"; }
    std::string_view operator()(const AttemptStarted&) const { return "attempt_started"; }
    std::string_view operator()(const QueueReport&) const { return "queue_report"; }
    std::string_view operator()(const AttemptOutput&) const { return "attempt_output"; }
    std::string_view operator()(const AttemptEnded&) const { return "attempt_ended"; }
    std::string_view operator()(const CatalogChanged&) const { return "catalog_changed"; }
    std::string_view operator()(const UnitTypesQuery&) const { return "unit_types_query"; }
    std::string_view operator()(const UnitTypesAnswer&) const { return "unit_types_answer"; }
    std::string_view operator()(const KeptFileQuery&) const { return "kept_file_query"; }
    std::string_view operator()(const KeptFilePiece&) const { return "kept_file_piece"; }
    std::string_view operator()(const ProbeRequest&) const { return "probe_request"; }
    std::string_view operator()(const SubUnitState&) const { return "sub_unit_state"; }
    std::string_view operator()(const SubUnitTarget&) const { return "sub_unit_target"; }
    std::string_view operator()(const SubUnitRequest&) const { return "sub_unit_request"; }
    std::string_view operator()(const GpuMemoryReport&) const { return "gpu_memory"; }
    std::string_view operator()(const BalanceSteps&) const { return "balance_steps"; }
    std::string_view operator()(const ResourceOrder&) const { return "resource_order"; }
    std::string_view operator()(const ResourceState&) const { return "resource_state"; }
    std::string_view operator()(const MatchLibrary&) const { return "match_library"; }
    std::string_view operator()(const Heartbeat&) const { return "heartbeat"; }
    std::string_view operator()(const RenewCertificate&) const { return "renew_certificate"; }
    std::string_view operator()(const RenewedCertificate&) const { return "renewed_certificate"; }
    std::string_view operator()(const TrustedAuthorities&) const { return "trusted_authorities"; }
    std::string_view operator()(const Ack&) const { return "ack"; }
};

} // namespace

Message make_message(Body body)
{
    return {MessageId::make(), std::move(body)};
}

bool needs_ack(const Body& body)
{
    return !std::holds_alternative<Hello>(body) && !std::holds_alternative<Welcome>(body) &&
           !std::holds_alternative<UnitTypesQuery>(body) && !std::holds_alternative<UnitTypesAnswer>(body) &&
           !std::holds_alternative<KeptFileQuery>(body) && !std::holds_alternative<KeptFilePiece>(body) &&
           !std::holds_alternative<SubUnitState>(body) && !std::holds_alternative<SubUnitTarget>(body) &&
           !std::holds_alternative<GpuMemoryReport>(body) && !std::holds_alternative<ResourceOrder>(body) &&
           !std::holds_alternative<ResourceState>(body) && !std::holds_alternative<MatchLibrary>(body) &&
           !std::holds_alternative<Heartbeat>(body) && !std::holds_alternative<RenewedCertificate>(body) &&
           !std::holds_alternative<Ack>(body);
}

std::string_view type_name(const Body& body)
{
    return std::visit(TypeName{}, body);
}

std::string encode(const Message& message)
{
    const Json json = {{"v", kVersion},
                       {"id", message.id.value},
                       {"type", type_name(message.body)},
                       {"body", std::visit([](const auto& body) { return body_json(body); }, message.body)}};
    // A job's name may hold bytes that are not UTF-8 only if a codec let them in; never throw here.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace fathom::link
