#pragma once

#include "core/model/attempt.hpp"
#include "core/model/balance_step.hpp"
#include "core/model/center.hpp"
#include "core/model/device_neighbours.hpp"
#include "core/model/gpu_memory.hpp"
#include "core/model/resources.hpp"
#include "core/model/type_queue.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The messages between agent and metascheduler: JSON text frames over a WebSocket over mutual TLS.
///
///     {"v": 1, "id": "msg_…", "type": "attempt_ended", "body": {…}}
///
/// Delivery is at least once: a message with `needs_ack` is sent again after a reconnect until an `ack`
/// names its id; receivers are idempotent. What a field of a message is called on the wire, and its bounds, are in the
/// message's Declaration (schema/link/declaration.hpp). Unknown fields are ignored and unknown types are answered by
/// an ack with an error, so that either side may be one minor version ahead. Golden samples that must
/// decode for ever are in schema/link/golden/.
namespace fathom::link {

inline constexpr int kVersion = 1;
inline constexpr std::size_t kMaxMessageBytes = 8UL << 20U;
/// Raw bytes of a job's output in one message.
inline constexpr std::size_t kMaxOutputBytes = 256UL << 10U;

/// An attempt that the agent holds: running, or ended with the report not yet acknowledged.
struct InventoryItem {
    AttemptId attempt_id;
    std::string state; ///< "running" or "ended"
};

/// agent -> server, first message of a connection.
struct Hello {
    std::string agent_version;
    Catalog catalog;
    std::vector<InventoryItem> inventory;
    /// M3: of the MatchLibrary that it holds; "": it holds none. Empty: an agent that takes none, as an older one.
    std::optional<std::string> library_digest{};
    /// SHA-256, in hex, of the authorities' certificates that it trusts. Empty: an agent that takes no others, as an
    /// older one.
    std::optional<std::vector<std::string>> authorities{};
    /// Of the host that its jobs run on, a hash: centers whose agents say the same share the host. Empty: an agent that
    /// does not know its jobs' hosts, or an older one.
    std::string host_id{};
};

/// server -> agent, the answer to Hello.
struct Welcome {
    std::string server_version;
    std::string center_id;
    std::string center_name;
    std::int64_t heartbeat_s{10};
    std::vector<AttemptId> stop;   ///< running at the agent but cancelled or superseded: end them
    std::vector<AttemptId> forget; ///< ended, and known here: drop them
    /// R10: of balance loops, that it takes in one BalanceSteps. 0: a server that takes none, or an older one.
    std::int64_t balance_steps{};
    double balance_pause_s{}; ///< between one of them and the next, at least
    bool takes_queues{};      ///< QueueReport; not so an older server
};

/// server -> agent, needs ack. An attempt that the agent already holds is not started again.
struct StartAttempt {
    AttemptOrder order;
};

/// server -> agent, needs ack. Unknown or ended attempts are acknowledged and ignored.
struct CancelAttempt {
    AttemptId attempt_id;
    std::string reason;
};

/// server -> agent, needs ack. As CancelAttempt, but of an attempt that waits for units only: the server wants to place
/// it elsewhere. An agent that does not know this message refuses it, and goes on with the attempt.
struct RecallAttempt {
    AttemptId attempt_id;
    std::string reason;
};

/// agent -> server, needs ack.
struct AttemptStarted {
    AttemptId attempt_id;
    Timestamp started_at{};
    std::vector<std::int64_t> cpus;  ///< the processors that it may use
    std::vector<std::int64_t> units; ///< indices of the units that it holds
    std::string unit_type;           ///< what it runs on; empty: as ordered
    /// M18, of a probe: every unit type of the center that could have run it. Empty: an agent that does not say.
    std::vector<std::string> able_unit_types{};
    /// Of one that shares a device with others as it starts. Empty: it shares none, or an agent that does not say.
    std::optional<DeviceNeighbours> neighbours{};
};

/// An attempt that the center's own batch system has and has not started, and why.
struct QueuedAttempt {
    AttemptId attempt_id;
    std::string reason;                      ///< in the batch system's words
    std::optional<Timestamp> expected_start; ///< as it plans now; empty: it does not say
    bool operator==(const QueuedAttempt&) const = default;
};

/// agent -> server, needs ack: what is new of how some attempts wait, and of the queues before some unit types. Said to
/// a server only whose Welcome takes it, all of it again after each welcome; not kept: it says how things stand, and
/// repeats change nothing.
struct QueueReport {
    std::vector<QueuedAttempt> attempts;
    std::vector<TypeQueue> unit_types{};
};
inline constexpr std::size_t kMaxQueuedAttempts = 256; ///< in one report
inline constexpr std::size_t kMaxQueueReason = 1000;   ///< bytes; as in the table attempt_queue

/// agent -> server, needs ack. In order for each stream; `offset` makes repeats harmless.
struct AttemptOutput {
    AttemptId attempt_id;
    std::string stream; ///< "stdout" or "stderr"
    std::int64_t offset_bytes{};
    std::string data; ///< raw bytes, base64 on the wire
};

/// agent -> server, needs ack. Sent after all of the attempt's output. Outcomes that not every server knows
/// (out_of_memory, node_failure, preempted) are in `exact_outcome` on the wire; `outcome` is then what older servers
/// take the end for (signalled, lost). Where a server knows neither, the attempt has ended as lost.
struct AttemptEnded {
    AttemptEnd end;
};

/// agent -> server, needs ack. What the center offers has changed (M9).
struct CatalogChanged {
    Catalog catalog;
};

/// server -> agent: which of its unit types can run all of these operators (M13b)? The answer names the same query,
/// so it needs no ack; an agent that does not know the question refuses it by one.
struct UnitTypesQuery {
    MessageId query_id; ///< of the question, however often it is sent
    std::vector<OperatorNeed> operators;
};

/// A unit type that can run what was asked for.
struct AbleUnitType {
    std::string name;
    std::int64_t unit_count{}; ///< in all
    std::int64_t free_count{}; ///< at the moment of the answer
};

/// A unit type that cannot.
struct UnableUnitType {
    std::string name;
    std::string reason; ///< for people
};

/// agent -> server.
struct UnitTypesAnswer {
    MessageId query_id;
    std::vector<AbleUnitType> able;
    std::vector<UnableUnitType> unable;
};

/// server -> agent: bytes of a file that the center keeps a copy of (its fact `reads_kept_files`), by its SHA-256. The
/// piece names the same query, so it needs no ack.
struct KeptFileQuery {
    MessageId query_id;
    std::string sha256; ///< 64 lower-case hex digits
    std::int64_t offset_bytes{};
    std::int64_t most_bytes{}; ///< 1 to kMaxKeptPieceBytes
};
/// Raw bytes of a kept file in one message.
inline constexpr std::size_t kMaxKeptPieceBytes = 256UL << 10U;

/// agent -> server. Fewer bytes than were asked for: the file ends behind them. Or why there are none.
struct KeptFilePiece {
    MessageId query_id;
    std::string data{};             ///< raw bytes, base64 on the wire
    std::optional<Error> refusal{}; ///< kNotFound: no copy is kept; kUnavailable: it cannot be read now
};
inline constexpr std::size_t kMaxKeptRefusal = 1000; ///< bytes of its detail

/// agent -> server, needs ack. The center asks to be measured anew (M21).
struct ProbeRequest {
    std::string reason; ///< for people
};

/// What a center has of one kind of sub-unit, the parts that its units of a type are made of (R8).
struct SubUnitHolding {
    std::string kind;
    std::string unit_type;
    std::int64_t sub_units_per_unit{1};
    std::int64_t registered_count{}; ///< that the center brought into the network
    std::int64_t most_count{};       ///< that its machines could have
    std::int64_t version{};          ///< of the last target that was reached; 0: none yet
    std::int64_t held_count{};       ///< that it has now
    std::int64_t offered_count{};    ///< of them, that jobs may be placed on
    std::int64_t refused_version{};  ///< of a target that it will not reach; 0: none
    std::string refusal{};           ///< why, for people
};

/// agent -> server, after each welcome and each change. It says how things stand, so that a repeat changes nothing.
struct SubUnitState {
    std::vector<SubUnitHolding> holdings;
};

/// A SubUnitRequest that the server has taken and refused later. What it does not take at all, its ack says.
struct SubUnitRefusal {
    MessageId request;  ///< the last message that asked for it
    std::string reason; ///< for people
};
inline constexpr std::size_t kMaxSubUnitRefusal = 1000; ///< bytes of a reason

/// server -> agent: what the center is to have. Said again in each connection until a SubUnitState shows its version;
/// an agent acts on the highest version only, so it needs no ack.
struct SubUnitTarget {
    std::string kind;
    std::int64_t version{};
    std::int64_t held_count{};
    std::int64_t offered_count{}; ///< fewer than held: these are to be free of jobs soon
    /// Of the last request of the kind that the agent has made, if that was refused; repeated until the agent makes
    /// another. An older server never says it, an older agent does not hear it.
    std::optional<SubUnitRefusal> refusal{};
};

/// agent -> server, needs ack. The center asks to give up or to gain sub-units, instead of what it asked for before and
/// has not got; the message's id is the request's. Or it wants nothing more than it has: what it asked for is
/// withdrawn.
struct SubUnitRequest {
    std::string kind;
    std::string action;   ///< "release", "gain" or "keep"
    std::int64_t count{}; ///< 0: of "keep"
    std::string reason;   ///< for people
};

/// server -> agent: what calls of profiled jobs are matched with (M3), the network's operators as they are used now.
/// Said to agents only whose Hello has another digest, and again when the operators change; an agent that could not
/// keep it says so by its next Hello, so it needs no ack.
struct MatchLibrary {
    std::string digest;             ///< of `operators`, by which either side knows it
    Json operators = Json::array(); ///< manifests; of a newer server, an agent may not be able to read each
};
inline constexpr std::size_t kMaxLibraryOperators = 1000;
inline constexpr std::size_t kMaxLibraryBytes = 1UL << 20U; ///< of `operators` as text, that a server sends

/// agent -> server. Proof of life, with figures for people.
struct Heartbeat {
    double load_1min{};
    std::int64_t running_attempts{};
    std::int64_t spooled_messages{};
};

/// agent -> server, needs ack: asks for a new certificate before the old one ends.
struct RenewCertificate {
    std::string request_pem;
};

/// server -> agent: the answer to RenewCertificate.
struct RenewedCertificate {
    std::string certificate_pem;
};

/// server -> agent, needs ack: the authorities that the network trusts from now on, instead of those before. An agent
/// acknowledges them when they are safe on its disk. Where another than the signer has signed its certificate, it asks
/// for a new one. Said to agents only whose Hello names others, and while certificates are renewed to all whose Hello
/// names any, once in each connection.
struct TrustedAuthorities {
    std::string certificates_pem; ///< one certificate or two
    std::string signer_sha256;    ///< of them, the one that signs new certificates
    double renew_within_s{};      ///< agents ask at random moments of this time, not all at once
};
inline constexpr std::size_t kMaxAuthoritiesBytes = 64UL << 10U;
inline constexpr std::size_t kMaxAuthorities = 16; ///< that a Hello names

/// Either way. With an error the sender must not send the message again.
struct Ack {
    MessageId of;
    std::optional<Error> error;
};

/// What either side says. A GpuMemoryReport (agent -> server, after each welcome and each change) says how things
/// stand, so that a repeat changes nothing. BalanceSteps (agent -> server, needs ack) are only said to a server whose
/// Welcome asks for them, the next ones when the last are acknowledged; known by their times, so that a repeat changes
/// nothing. A ResourceOrder (server -> agent, once in each connection and when it changes) is said to agents only whose
/// catalog has the fact `remote_resources`; a ResourceState (agent -> server, after each welcome and each change) says
/// how far the center is with it, or what its machines lack; repeats change nothing.
using Body = std::variant<Hello, Welcome, StartAttempt, CancelAttempt, RecallAttempt, AttemptStarted, QueueReport,
                          AttemptOutput, AttemptEnded, CatalogChanged, UnitTypesQuery, UnitTypesAnswer, KeptFileQuery,
                          KeptFilePiece, ProbeRequest, SubUnitState, SubUnitTarget, SubUnitRequest, GpuMemoryReport,
                          BalanceSteps, ResourceOrder, ResourceState, MatchLibrary, Heartbeat, RenewCertificate,
                          RenewedCertificate, TrustedAuthorities, Ack>;

struct Message {
    MessageId id;
    Body body;
};

/// A message with a fresh id.
Message make_message(Body body);

/// True for the messages that are repeated until acknowledged.
bool needs_ack(const Body& body);

/// The wire name of a body, "attempt_ended" and so on.
std::string_view type_name(const Body& body);

std::string encode(const Message& message);

/// A message that could not be read. `id` is set when at least that could be, so that it can be refused by name.
struct DecodeFailure {
    std::optional<MessageId> id;
    Error error;
};

/// @return the message, or why not: not JSON, too large, another version, an unknown type, wrong fields.
std::variant<Message, DecodeFailure> decode(std::string_view text);

} // namespace fathom::link
