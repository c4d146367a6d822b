#include "core/base/secret.hpp"
#include "core/base/utf8_prefix.hpp"
#include "schema/link/kept_file.hpp"
#include "schema/link/messages.hpp"
#include "schema/link/read_fields.hpp"
#include "schema/link/told_cause.hpp"

#include <functional>
#include <map>

namespace fathom::link {
namespace {

constexpr std::int64_t kMaxBytes = 1LL << 60U;
constexpr std::size_t kMaxOperators = 1000;
constexpr std::size_t kMaxUnitTypes = 100; ///< as in a catalog
constexpr std::int64_t kMaxSubUnits = 1'000'000;
constexpr std::size_t kMaxOutcome = 32; ///< the name of one
constexpr std::size_t kMaxDetail = 4000;
constexpr std::size_t kMaxDigestLength = 128;
constexpr double kMaxRenewal_s = 30 * 86400; ///< over how long certificates may be renewed

Body read_hello(ObjectReader& reader, std::vector<FieldError>& errors)
{
    Hello hello;
    hello.agent_version = reader.required_string("agent_version", {.max_length = 64});
    hello.catalog = read_catalog(reader, errors);
    if (const Json* items = reader.array("inventory", 0, 1'000'000)) {
        for (const Json& json : *items) {
            ObjectReader item(json, "inventory[]", errors);
            hello.inventory.push_back({read_id<AttemptId>(item, "attempt_id"),
                                       item.required_string("state", {.one_of = {"running", "ended"}})});
        }
    }
    hello.library_digest = reader.optional_string("library_digest", {.max_length = kMaxDigestLength});
    if (reader.has("authorities"))
        hello.authorities = reader.strings("authorities", kMaxAuthorities, {.max_length = kMaxDigestLength});
    hello.host_id = reader.optional_string("host_id", {.max_length = kMaxDigestLength}).value_or("");
    return hello;
}

Body read_welcome(ObjectReader& reader, std::vector<FieldError>&)
{
    Welcome welcome;
    welcome.server_version = reader.required_string("server_version", {.max_length = 64});
    welcome.center_id = reader.required_string("center_id", {.max_length = 64});
    welcome.center_name = reader.required_string("center_name", {.max_length = 128});
    welcome.heartbeat_s = reader.required_integer("heartbeat_s", 1, 3600);
    welcome.stop = read_attempt_ids(reader, "stop");
    welcome.forget = read_attempt_ids(reader, "forget");
    welcome.balance_steps = reader.optional_integer("balance_steps", 0, kMaxBytes).value_or(0);
    welcome.balance_pause_s = reader.optional_number("balance_pause_s", 0, 3600).value_or(0);
    welcome.takes_queues = reader.optional_boolean("takes_queues").value_or(false);
    return welcome;
}

std::vector<OperatorNeed> read_needs(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<OperatorNeed> needs;
    const Json* items = reader.array("operators", 0, kMaxOperators);
    if (items == nullptr) return needs;
    for (const Json& json : *items) {
        ObjectReader item(json, "operators[]", errors);
        OperatorNeed need;
        need.id = item.required_string("id", {.min_length = 1, .max_length = 128});
        need.is_uploaded = item.optional_boolean("uploaded").value_or(false);
        needs.push_back(std::move(need));
    }
    return needs;
}

/// Older servers tell none.
AttemptOwner read_owner(ObjectReader& reader, std::vector<FieldError>& errors)
{
    AttemptOwner owner;
    const Json* json = reader.object("owner");
    if (json == nullptr) return owner;
    ObjectReader item(*json, "owner", errors);
    owner.submitter = item.required_string("submitter", {.min_length = 1, .max_length = 128});
    owner.account = item.optional_string("account", {.max_length = 128}).value_or("");
    owner.project = item.required_string("project", {.max_length = 128});
    return owner;
}

/// A class that a newer server has is none that is known here.
KernelClass read_kernel_class(ObjectReader& reader)
{
    const std::string text = reader.optional_string("gpu_class", {.max_length = 32}).value_or("");
    return parse_kernel_class(text).value_or(KernelClass::kUnknown);
}

Body read_start_attempt(ObjectReader& reader, std::vector<FieldError>& errors)
{
    AttemptOrder order;
    order.attempt_id = read_id<AttemptId>(reader, "attempt_id");
    order.job_id = read_id<JobId>(reader, "job_id");
    order.name = reader.required_string("name", {.max_length = 200});
    order.label = reader.required_string("label", {.one_of = {"job", "probe"}});
    order.unit_type = reader.required_string("unit_type", {.min_length = 1, .max_length = 128});
    order.unit_count = reader.required_integer("unit_count", 1, 1'000'000);
    order.center_chooses = reader.optional_boolean("center_chooses").value_or(false);
    order.center_counts = reader.optional_boolean("center_counts").value_or(false);
    order.is_exclusive = reader.optional_boolean("exclusive").value_or(false);
    order.kernel_class = read_kernel_class(reader);
    order.gpu_kind = reader.optional_string("gpu_kind", {.max_length = kMaxGpuKind}).value_or("");
    order.gpu_pairs = read_gpu_pairs(reader, "gpu_pairs", errors);
    order.operators = read_needs(reader, errors);
    order.profile = reader.optional_boolean("profile").value_or(false);
    order.known_operators =
        reader.strings("known_operators", kMaxLibraryOperators, {.min_length = 1, .max_length = 64});
    order.command = reader.strings("command", 1000, {.max_length = 65536});
    order.script = reader.optional_string("script", {.max_length = 1UL << 20U}).value_or("");
    order.environment = read_text_map(reader, "environment");
    order.files = read_text_map(reader, "files");
    order.inputs = parse_job_inputs(reader, errors);
    order.software = parse_job_software(reader, errors);
    order.outputs = parse_job_outputs(reader, errors);
    order.wall_limit_s = reader.required_integer("wall_limit_s", 1, 31'536'000);
    order.owner = read_owner(reader, errors);
    if (order.command.empty() == order.script.empty()) reader.fail("command", "either a command or a script is needed");
    return StartAttempt{std::move(order)};
}

Body read_cancel_attempt(ObjectReader& reader, std::vector<FieldError>&)
{
    return CancelAttempt{read_id<AttemptId>(reader, "attempt_id"),
                         reader.optional_string("reason", {.max_length = 1000}).value_or("")};
}

Body read_recall_attempt(ObjectReader& reader, std::vector<FieldError>&)
{
    return RecallAttempt{read_id<AttemptId>(reader, "attempt_id"),
                         reader.optional_string("reason", {.max_length = 1000}).value_or("")};
}

Body read_attempt_started(ObjectReader& reader, std::vector<FieldError>& errors)
{
    AttemptStarted started{read_id<AttemptId>(reader, "attempt_id"),
                           read_time(reader, "started_at"),
                           read_numbers(reader, "cpus"),
                           read_numbers(reader, "units"),
                           reader.optional_string("unit_type", {.max_length = 128}).value_or(""),
                           reader.strings("able_unit_types", kMaxUnitTypes, {.min_length = 1, .max_length = 128})};
    if (!reader.has("neighbours")) return started;
    if (const Json* neighbours = reader.object("neighbours")) {
        ObjectReader item(*neighbours, reader.path_of("neighbours"), errors);
        started.neighbours = read_device_neighbours(item);
    }
    return started;
}

Body read_queue_report(ObjectReader& reader, std::vector<FieldError>& errors)
{
    QueueReport report;
    const Json* attempts = reader.array("attempts", 0, kMaxQueuedAttempts);
    for (std::size_t i = 0; attempts != nullptr && i < attempts->size(); ++i) {
        ObjectReader item((*attempts)[i], "attempts[" + std::to_string(i) + "]", errors);
        report.attempts.push_back({read_id<AttemptId>(item, "attempt_id"),
                                   item.required_string("reason", {.max_length = kMaxQueueReason}),
                                   item.optional_time("expected_start")});
    }
    const Json* types = reader.array("unit_types", 0, kMaxUnitTypes);
    for (std::size_t i = 0; types != nullptr && i < types->size(); ++i) {
        ObjectReader item((*types)[i], "unit_types[" + std::to_string(i) + "]", errors);
        report.unit_types.push_back({item.required_string("unit_type", {.min_length = 1, .max_length = 128}),
                                     item.optional_time("expected_start")});
    }
    if (report.attempts.empty() && report.unit_types.empty())
        reader.fail("attempts", "or unit_types must say something");
    return report;
}

Body read_attempt_output(ObjectReader& reader, std::vector<FieldError>&)
{
    AttemptOutput output;
    output.attempt_id = read_id<AttemptId>(reader, "attempt_id");
    output.stream = reader.required_string("stream", {.one_of = {"stdout", "stderr"}});
    output.offset_bytes = reader.required_integer("offset_bytes", 0, kMaxBytes);
    Base64Decoded decoded =
        base64_decode(reader.required_string("data_base64", {.max_length = kMaxOutputBytes * 4 / 3 + 8}));
    if (!decoded.ok) reader.fail("data_base64", "is not base64");
    output.data = std::move(decoded.data);
    return output;
}

/// A newer agent may name an outcome that is not known here. The attempt has ended all the same: by the outcome that
/// the agent gives for such servers, else as lost.
void read_outcome(ObjectReader& reader, AttemptEnd& end)
{
    const std::string outcome = reader.required_string("outcome", {.min_length = 1, .max_length = kMaxOutcome});
    const std::string exact = reader.optional_string("exact_outcome", {.max_length = kMaxOutcome}).value_or("");
    std::optional<AttemptOutcome> known = parse_attempt_outcome(exact);
    if (!known) known = parse_attempt_outcome(outcome);
    end.outcome = known.value_or(AttemptOutcome::kLost);
    end.detail = reader.optional_string("detail", {.max_length = kMaxDetail}).value_or("");
    if (known || outcome.empty()) return;
    const std::string words = "ended as " + outcome + ", which this version does not know";
    end.detail = end.detail.empty() ? words : words + ": " + end.detail;
    end.detail = std::string(utf8_prefix(end.detail, kMaxDetail));
}

Body read_attempt_ended(ObjectReader& reader, std::vector<FieldError>& errors)
{
    AttemptEnd end;
    end.attempt_id = read_id<AttemptId>(reader, "attempt_id");
    read_outcome(reader, end);
    end.exit_code = reader.optional_integer("exit_code", 0, 255);
    end.cause = read_cause(reader, end);
    end.signal = reader.optional_integer("signal", 1, 64);
    end.started_at = reader.optional_time("started_at");
    end.ended_at = read_time(reader, "ended_at");
    end.run_s = reader.required_number("run_s", 0, 1e9);
    end.cpu_s = reader.required_number("cpu_s", 0, 1e12);
    end.max_resident_bytes = reader.required_integer("max_resident_bytes", 0, kMaxBytes);
    end.nodes = reader.optional_string("nodes", {.max_length = kMaxNodesBytes}).value_or("");
    end.energy_j = reader.optional_integer("energy_j", 0, kMaxEnergy_j).value_or(0);
    end.stdout_bytes = reader.required_integer("stdout_bytes", 0, kMaxBytes);
    end.stderr_bytes = reader.required_integer("stderr_bytes", 0, kMaxBytes);
    if (const Json* profile = reader.object("profile")) end.profile = *profile;
    end.outputs = parse_stored_outputs(reader, errors);
    end.staging = parse_staging_use(reader, errors);
    return AttemptEnded{std::move(end)};
}

Body read_catalog_changed(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return CatalogChanged{read_catalog(reader, errors)};
}

Body read_unit_types_query(ObjectReader& reader, std::vector<FieldError>& errors)
{
    UnitTypesQuery query;
    query.query_id = read_id<MessageId>(reader, "query_id");
    query.operators = read_needs(reader, errors);
    if (query.operators.empty()) reader.fail("operators", "must name at least one");
    return query;
}

Body read_unit_types_answer(ObjectReader& reader, std::vector<FieldError>& errors)
{
    UnitTypesAnswer answer;
    answer.query_id = read_id<MessageId>(reader, "query_id");
    if (const Json* items = reader.array("able", 0, kMaxUnitTypes)) {
        for (const Json& json : *items) {
            ObjectReader item(json, "able[]", errors);
            answer.able.push_back({item.required_string("name", {.min_length = 1, .max_length = 128}),
                                   item.required_integer("unit_count", 0, 1'000'000),
                                   item.required_integer("free_count", 0, 1'000'000)});
        }
    }
    if (const Json* items = reader.array("unable", 0, kMaxUnitTypes)) {
        for (const Json& json : *items) {
            ObjectReader item(json, "unable[]", errors);
            answer.unable.push_back({item.required_string("name", {.min_length = 1, .max_length = 128}),
                                     item.required_string("reason", {.max_length = 1000})});
        }
    }
    return answer;
}

Body read_file_query(ObjectReader& reader, std::vector<FieldError>&)
{
    return read_kept_file_query(reader);
}

Body read_file_piece(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return read_kept_file_piece(reader, errors);
}

Body read_probe_request(ObjectReader& reader, std::vector<FieldError>&)
{
    return ProbeRequest{reader.required_string("reason", {.min_length = 1, .max_length = 1000})};
}

SubUnitHolding read_holding(const Json& json, std::vector<FieldError>& errors)
{
    ObjectReader item(json, "holdings[]", errors);
    SubUnitHolding holding;
    holding.kind = item.required_string("kind", {.min_length = 1, .max_length = 64});
    holding.unit_type = item.required_string("unit_type", {.min_length = 1, .max_length = 128});
    holding.sub_units_per_unit = item.required_integer("sub_units_per_unit", 1, kMaxSubUnits);
    holding.registered_count = item.required_integer("registered_count", 0, kMaxSubUnits);
    holding.most_count = item.required_integer("most_count", 0, kMaxSubUnits);
    holding.version = item.required_integer("version", 0, kMaxBytes);
    holding.held_count = item.required_integer("held_count", 0, kMaxSubUnits);
    holding.offered_count = item.required_integer("offered_count", 0, kMaxSubUnits);
    holding.refused_version = item.optional_integer("refused_version", 0, kMaxBytes).value_or(0);
    holding.refusal = item.optional_string("refusal", {.max_length = 1000}).value_or("");
    return holding;
}

Body read_sub_unit_state(ObjectReader& reader, std::vector<FieldError>& errors)
{
    SubUnitState state;
    const Json* items = reader.array("holdings", 0, kMaxUnitTypes);
    if (items == nullptr) {
        if (!reader.has("holdings")) reader.fail("holdings", "is required");
        return state;
    }
    for (const Json& json : *items)
        state.holdings.push_back(read_holding(json, errors));
    return state;
}

Body read_sub_unit_target(ObjectReader& reader, std::vector<FieldError>&)
{
    SubUnitTarget target;
    target.kind = reader.required_string("kind", {.min_length = 1, .max_length = 64});
    target.version = reader.required_integer("version", 1, kMaxBytes);
    target.held_count = reader.required_integer("held_count", 0, kMaxSubUnits);
    target.offered_count = reader.required_integer("offered_count", 0, kMaxSubUnits);
    if (reader.has("refused_request"))
        target.refusal =
            SubUnitRefusal{read_id<MessageId>(reader, "refused_request"),
                           reader.optional_string("refusal", {.max_length = kMaxSubUnitRefusal}).value_or("")};
    return target;
}

Body read_sub_unit_request(ObjectReader& reader, std::vector<FieldError>&)
{
    SubUnitRequest request;
    request.kind = reader.required_string("kind", {.min_length = 1, .max_length = 64});
    request.action = reader.required_string("action", {.one_of = {"release", "gain", "keep"}});
    const std::int64_t min_count = request.action == "keep" ? 0 : 1;
    request.count = reader.required_integer("count", min_count, min_count * kMaxSubUnits);
    request.reason = reader.optional_string("reason", {.max_length = 1000}).value_or("");
    return request;
}

Body read_gpu_memory(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return read_gpu_memory_report(reader, errors);
}

Body read_balance(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return read_balance_steps(reader, errors);
}

Body read_order_of_resources(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return read_resource_order(reader, errors);
}

Body read_state_of_resources(ObjectReader& reader, std::vector<FieldError>& errors)
{
    return read_resource_state(reader, errors);
}

Body read_match_library(ObjectReader& reader, std::vector<FieldError>&)
{
    MatchLibrary library;
    library.digest = reader.required_string("digest", {.min_length = 1, .max_length = kMaxDigestLength});
    if (const Json* operators = reader.array("operators", 0, kMaxLibraryOperators)) library.operators = *operators;
    return library;
}

Body read_heartbeat(ObjectReader& reader, std::vector<FieldError>&)
{
    return Heartbeat{reader.required_number("load_1min", 0, 1e9),
                     reader.required_integer("running_attempts", 0, 1LL << 40U),
                     reader.required_integer("spooled_messages", 0, 1LL << 40U)};
}

Body read_renew_certificate(ObjectReader& reader, std::vector<FieldError>&)
{
    return RenewCertificate{reader.required_string("request_pem", {.min_length = 1, .max_length = 16384})};
}

Body read_renewed_certificate(ObjectReader& reader, std::vector<FieldError>&)
{
    return RenewedCertificate{reader.required_string("certificate_pem", {.min_length = 1, .max_length = 65536})};
}

Body read_trusted_authorities(ObjectReader& reader, std::vector<FieldError>&)
{
    TrustedAuthorities trusted;
    trusted.certificates_pem =
        reader.required_string("certificates_pem", {.min_length = 1, .max_length = kMaxAuthoritiesBytes});
    trusted.signer_sha256 = reader.required_string("signer_sha256", {.min_length = 1, .max_length = kMaxDigestLength});
    trusted.renew_within_s = reader.required_number("renew_within_s", 0, kMaxRenewal_s);
    return trusted;
}

Body read_ack(ObjectReader& reader, std::vector<FieldError>& errors)
{
    Ack ack{read_id<MessageId>(reader, "of"), std::nullopt};
    if (const Json* json = reader.object("error")) {
        ObjectReader item(*json, "error", errors);
        const std::string code = item.required_string("code", {.max_length = 32});
        // Only two classes matter to a sender: its message was wrong, or anything else.
        const Errc errc = code == to_string(Errc::kInvalid) ? Errc::kInvalid : Errc::kInternal;
        ack.error = Error{errc, item.optional_string("detail", {.max_length = 4000}).value_or(code)};
    }
    return ack;
}

using Reader = Body (*)(ObjectReader&, std::vector<FieldError>&);

const std::map<std::string, Reader, std::less<>>& readers()
{
    static const std::map<std::string, Reader, std::less<>> kReaders{
        {"hello", read_hello},
        {"welcome", read_welcome},
        {"start_attempt", read_start_attempt},
        {"cancel_attempt", read_cancel_attempt},
        {"recall_attempt", read_recall_attempt},
        {"attempt_started", read_attempt_started},
        {"queue_report", read_queue_report},
        {"attempt_output", read_attempt_output},
        {"attempt_ended", read_attempt_ended},
        {"catalog_changed", read_catalog_changed},
        {"unit_types_query", read_unit_types_query},
        {"unit_types_answer", read_unit_types_answer},
        {"kept_file_query", read_file_query},
        {"kept_file_piece", read_file_piece},
        {"probe_request", read_probe_request},
        {"sub_unit_state", read_sub_unit_state},
        {"sub_unit_target", read_sub_unit_target},
        {"sub_unit_request", read_sub_unit_request},
        {"gpu_memory", read_gpu_memory},
        {"balance_steps", read_balance},
        {"resource_order", read_order_of_resources},
        {"resource_state", read_state_of_resources},
        {"match_library", read_match_library},
        {"heartbeat", read_heartbeat},
        {"renew_certificate", read_renew_certificate},
        {"renewed_certificate", read_renewed_certificate},
        {"trusted_authorities", read_trusted_authorities},
        {"ack", read_ack},
    };
    return kReaders;
}

} // namespace

std::variant<Message, DecodeFailure> decode(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxMessageBytes});
    if (!json) return DecodeFailure{std::nullopt, json.error()};
    std::vector<FieldError> errors;
    ObjectReader envelope(*json, "", errors);
    const MessageId id = read_id<MessageId>(envelope, "id");
    const std::optional<MessageId> known_id = errors.empty() ? std::optional(id) : std::nullopt;
    const std::int64_t version = envelope.required_integer("v", 0, 1'000'000);
    const std::string type = envelope.required_string("type", {.max_length = 64});
    if (errors.empty() && version != kVersion)
        return DecodeFailure{known_id,
                             Error{Errc::kInvalid, "message version " + std::to_string(version) +
                                                       " is not spoken here, only " + std::to_string(kVersion)}};
    const auto reader = readers().find(type);
    if (errors.empty() && reader == readers().end())
        return DecodeFailure{known_id, Error{Errc::kInvalid, "unknown message type \"" + type + "\""}};
    const Json* body = envelope.object("body");
    if (body == nullptr) envelope.fail("body", "is required");
    if (!errors.empty()) return DecodeFailure{known_id, Error{Errc::kInvalid, "malformed message", std::move(errors)}};

    ObjectReader fields(*body, "body", errors);
    Body value = reader->second(fields, errors);
    if (!errors.empty())
        return DecodeFailure{known_id, Error{Errc::kInvalid, "malformed " + type + " message", std::move(errors)}};
    return Message{id, std::move(value)};
}

} // namespace fathom::link
