#pragma once

// Internal to server/centers.

#include "core/net/http.hpp"
#include "core/net/websocket.hpp"
#include "schema/link/messages.hpp"
#include "server/centers/enrolment_service.hpp"
#include "server/centers/session_store.hpp"
#include "server/centers/sessions/catalog_notices.hpp"
#include "server/centers/sessions/message_pace.hpp"
#include "server/centers/sessions/output_room.hpp"
#include "server/centers/sessions/sent_orders.hpp"
#include "server/centers/sessions/session_files.hpp"
#include "server/centers/sessions/session_questions.hpp"
#include "server/ports/attempt_gateway.hpp"
#include "server/ports/balance_gateway.hpp"
#include "server/ports/library_source.hpp"
#include "server/ports/sub_unit_gateway.hpp"

#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace fathom::server {

struct AgentSessionOptions {
    std::string server_version = FATHOM_VERSION;
    std::string replica; ///< this process, for the log and the center's row
    std::chrono::seconds heartbeat{10};
    std::chrono::milliseconds hello_time{10000};
    std::chrono::milliseconds order_tick{5000}; ///< until what could not be looked up is looked for again
    int refusals = 20;                          ///< malformed messages in one connection before it is closed
    /// Changed catalogs make every replica read the network anew: after so many in a row each waits so long.
    int catalog_changes = 5;
    std::chrono::milliseconds catalog_pause{2000};
    std::chrono::milliseconds notice_pause{1000}; ///< between two catalogs read for what a center reports often
    int sub_unit_messages = 50; ///< that say what sub-units a center has or wants, in a row; then each waits so long
    std::chrono::milliseconds sub_unit_pause{250};
    std::int64_t balance_steps = 500;              ///< of balance loops, that an agent may tell at once
    std::chrono::milliseconds balance_pause{1000}; ///< until it may tell more
};

/// What a session works with. All outlive it.
struct AgentSessionParts {
    Database* database;
    AttemptGateway* gateway;
    EnrolmentService* enrolment;
    SubUnitGateway* sub_units = nullptr;     ///< none: agents' sub-units are refused
    BalanceGateway* balance = nullptr;       ///< none: agents are told not to tell what their balance loops do
    const LibrarySource* library = nullptr;  ///< none: agents match with what they have
    std::shared_ptr<OutputRoom> output_room; ///< of all sessions
};

/// One connection of a center's agent.
///
///     greeting --hello stored--> open --closed, superseded, revoked or a database failure--> ended
///
/// Six coroutines: serve() reads and answers one message after the other, but for those of which it reads some ahead.
/// Of these take_reports() carries out reports on attempts, what has come meanwhile in one transaction; take_output()
/// what waits for the database in its usual line, jobs' output above all; and take_queued() what is said of the units
/// behind an end that waits for its output: however long that takes, reports and signs of life behind it are heard.
/// send_orders() tells the agent, when woken, what the jobs room has for it; tell_of_catalog() tells replicas of many
/// changes at once. Its standing is kept by SessionKeeper. A flood of messages waits in the agent's socket and not in
/// our memory. A message is acknowledged after its transaction committed. When the database fails, the session ends
/// without an acknowledgement and the agent sends again.
///
/// What an agent says of one attempt is carried out in its order. What it says of its units comes after all reports
/// that were said before; of those an end waits until its attempt's output before it is stored. Whatever else stands
/// behind what is said of the units, but for reports on attempts, output and steps of balance loops, keeps its place
/// there. Reports on attempts do not wait for it, but for those that need the unit types: a start that names some, and
/// the end of what failed to start, come after the changes of the catalog that were said before. Nothing waits for what
/// was read after it, so something can always be carried out. Only where there is no room for another message is none
/// read, and what the agent says waits in its socket.
///
/// Runs on: the connection's strand; wake(), recheck(), end() and what is said of the standing are thread-safe.
class AgentSession : public std::enable_shared_from_this<AgentSession> {
  public:
    AgentSession(std::shared_ptr<net::WebSocket> socket, net::PeerCertificate certificate, AgentSessionParts parts,
                 AgentSessionOptions options, asio::any_io_executor executor);

    /// Reads the first message, opens the session in the database and stores the catalog. Empty when that
    /// did not come about; the connection is closing then and the cause is logged.
    asio::awaitable<std::optional<SessionGrant>> greet();
    /// After greet(): reconciles, says welcome, and reads until the connection ends.
    asio::awaitable<void> serve();
    /// After greet(), beside serve(): return when the session has ended.
    asio::awaitable<void> send_orders();
    asio::awaitable<void> take_reports();
    asio::awaitable<void> take_output();
    asio::awaitable<void> take_queued();
    asio::awaitable<void> tell_of_catalog();

    /// Orders may wait.
    void wake();
    /// A question to the center may wait.
    void ask();
    /// Bytes of a file that the center keeps may be wanted.
    void ask_for_pieces();
    /// The center may be to have other sub-units than before.
    void retarget();
    /// The center may be to offer something else than before.
    void reconfigure();
    /// What profiled jobs are matched with may have changed.
    void rematch();
    /// What the network trusts, or signs by, may have changed.
    void retrust();
    /// A newer session or a revocation may have ended this one.
    void recheck();
    void end(std::string reason, net::CloseKind kind = net::CloseKind::kNormal);

    /// After greet().
    const SessionGrant& grant() const { return grant_; }
    std::int64_t epoch() const { return grant_.epoch; }

    /// What the database is to be told or asked of the session.
    enum class Standing {
        kKnown, ///< nothing
        kHeard, ///< the agent was heard since that was last written down, which is long enough ago
        kAsked, ///< it may have been superseded or revoked
    };
    /// Of the keeper alone. What it takes is known, unless it says standing_unknown().
    Standing take_standing(std::chrono::steady_clock::time_point now, std::chrono::milliseconds touch_period);
    void standing_unknown(bool was_heard);
    void was_touched(std::chrono::steady_clock::time_point now) { touched_ = now; }

  private:
    Reporter reporter() const { return {grant_.center_id, grant_.epoch}; }
    asio::awaitable<std::optional<link::Hello>> read_hello();
    asio::awaitable<Result<void>> welcome();
    asio::awaitable<bool> handle(std::string text);
    /// Keeps a message that could not be carried out for people to look at. False when the database is away.
    asio::awaitable<bool> put_away(std::string text, std::string attempt, Error error);
    bool refuse(const std::optional<MessageId>& id, const Error& error, const std::string& attempt_id);
    asio::awaitable<void> handle_ack(link::Ack ack);
    asio::awaitable<Result<void>> apply(MessageId id, link::Body body);

    /// A report on an attempt that was read.
    struct ReadReport {
        AttemptReport report;
        AttemptId attempt;
        MessageId id;     ///< of the message; of an acknowledgement: of the order that it is about
        std::string text; ///< of the message, should it be put away; none of an acknowledgement
        std::uint64_t number{};
    };
    /// A message that was read.
    struct ReadMessage {
        MessageId id;
        link::Body body;
        std::string attempt; ///< of output; else empty
        std::string text;    ///< of the message, should it be put away
    };
    /// One that is carried out beside serve().
    struct QueuedMessage {
        ReadMessage read;
        std::uint64_t number{};
        std::size_t bytes{};
        std::shared_ptr<const void> room{}; ///< of output; null: it came when no other one waited
    };
    /// Messages that are carried out one after the other.
    struct MessageQueue {
        explicit MessageQueue(const asio::any_io_executor& executor) : came(executor), went(executor) {}
        void add(QueuedMessage message);
        void remove_first();

        std::list<QueuedMessage> messages; ///< the first is being carried out
        std::size_t bytes = 0;             ///< of all of them
        asio::steady_timer came;           ///< or may be carried out now
        asio::steady_timer went;
    };
    /// Carries out what comes into a queue of this session, each once it does not wait, until the session has ended.
    asio::awaitable<void> take_messages(MessageQueue& queue, bool (AgentSession::*waits)(const QueuedMessage&));
    /// False when the session cannot go on.
    asio::awaitable<bool> carry_out(ReadMessage read);
    /// Whether a message of this kind that was read now may not be carried out at once.
    bool must_queue(const link::Body& body) const;
    /// Waits for nothing but room there.
    asio::awaitable<void> add_queued(ReadMessage read);
    bool units_wait_for_report(const QueuedMessage& message);
    /// The number of the first change of the catalog that is queued; empty: none is.
    std::optional<std::uint64_t> first_catalog_change() const;
    asio::awaitable<void> add_waiting(ReadMessage read);
    /// Room for another one of so many bytes; null also when none waits any more, or the session has ended.
    asio::awaitable<std::shared_ptr<const void>> wait_for_room(std::size_t bytes);
    /// Until somebody cancels the wait.
    static asio::awaitable<void> until_cancelled(asio::steady_timer& timer);
    bool output_waits_for_report(const QueuedMessage& message);
    bool waits_for_output(const ReadReport& report) const;
    /// Those that may be carried out now; others of their attempts have to be before the rest.
    std::vector<std::list<ReadReport>::iterator> next_reports();
    asio::awaitable<void> add_report(ReadReport report);
    /// Until so many reports at most wait to be carried out, or the session has ended.
    asio::awaitable<void> until_reports_are(std::size_t most_count, std::size_t most_bytes);
    /// Until no report is left but those that wait for output or a change of the catalog, or the session has ended.
    asio::awaitable<void> until_reports_wait_for_output();
    /// False when the session cannot go on.
    asio::awaitable<bool> answer_report(const ReadReport& report, const Result<void>& taken);
    void forget_start(const MessageId& order, const AttemptId& attempt);
    asio::awaitable<Result<void>> change_catalog(Catalog catalog);
    /// Waits until there is room for another message. Meanwhile nothing else is read, or it is queued behind: what
    /// finds no room there waits at the agent.
    asio::awaitable<void> keep_to(MessagePace& pace);
    asio::awaitable<Result<void>> note_queues(link::QueueReport report);
    asio::awaitable<Result<void>> note_request(link::ProbeRequest request);
    asio::awaitable<Result<void>> note_answer(link::UnitTypesAnswer answer);
    asio::awaitable<Result<void>> take_piece(link::KeptFilePiece piece);
    asio::awaitable<Result<void>> take_sub_units(link::SubUnitState state);
    asio::awaitable<Result<void>> take_sub_unit_request(MessageId id, link::SubUnitRequest request);
    asio::awaitable<Result<void>> take_gpu_memory(GpuMemoryReport report);
    asio::awaitable<Result<void>> take_resource_state(ResourceState state);
    asio::awaitable<Result<void>> take_balance(BalanceSteps steps);
    asio::awaitable<Result<void>> renew(std::string request_pem);
    /// False when that could not be looked up.
    asio::awaitable<bool> offer_orders();
    void offer_start(link::StartAttempt start);
    asio::awaitable<void> offer_questions();
    asio::awaitable<void> offer_file_queries();
    asio::awaitable<void> offer_targets();
    asio::awaitable<void> offer_resources();
    void offer_library();
    void offer_authorities();
    asio::awaitable<void> note_trust(link::Ack ack);
    void offer(link::Body order);
    void log_order(std::string_view event, const AttemptId& attempt) const;
    void send(link::Body body);
    /// Thread-safe: the flag is set on the strand, and orders are looked at.
    void raise(bool AgentSession::* pending);
    void acknowledge(const MessageId& id, const std::optional<Error>& error);
    void log_refusal(const Error& error, const std::string& attempt_id) const;

    const std::shared_ptr<net::WebSocket> socket_;
    const net::PeerCertificate certificate_;
    const AgentSessionParts parts_;
    const AgentSessionOptions options_;
    asio::any_io_executor executor_;

    SessionGrant grant_;
    std::vector<link::InventoryItem> inventory_; ///< from hello until reconciled
    SentOrders orders_;                          ///< in this connection
    bool has_more_starts_ = false;               ///< than there was room for
    std::list<ReadReport> reports_;              ///< not yet carried out, those that are being included
    std::size_t report_bytes_ = 0;
    asio::steady_timer reports_came_; ///< or may be carried out now
    asio::steady_timer reports_went_;
    std::uint64_t read_count_ = 0; ///< of what is carried out beside serve(), by which it is numbered
    MessageQueue outputs_;         ///< what waits in the database's usual line, or for those before it there
    /// What is said of the units while reports before it are not carried out, or stands behind such a message.
    MessageQueue queued_;
    SessionQuestions questions_;
    SessionFiles files_;
    CatalogNotices notices_; ///< of what the agent reports often
    asio::steady_timer wake_timer_;
    bool wake_pending_ = false;
    bool question_pending_ = true;                    ///< one may have come before this session
    bool piece_pending_ = true;                       ///< likewise
    bool target_pending_ = true;                      ///< likewise
    bool resources_pending_ = true;                   ///< likewise
    std::optional<ResourceOrder> sent_resources_;     ///< in this connection, last
    std::optional<std::string> library_digest_;       ///< of what the agent has; empty: it takes none
    bool library_pending_ = false;                    ///< another one may be there; from the welcome on
    std::optional<std::vector<std::string>> trusted_; ///< by the agent (SHA-256, in hex); empty: it takes no others
    std::vector<std::string> told_authorities_;       ///< in this connection, last
    MessageId told_by_;                               ///< the message; empty once it is acknowledged, or before
    bool authorities_pending_ = false;                ///< they may be others; from the welcome on
    bool undoes_resources_ = false;                   ///< the agent follows an order of which nothing is known here
    /// Of a target that was sent.
    struct SentTarget {
        std::int64_t version{};
        MessageId refused{}; ///< the request that it told to be refused; empty: none
    };
    std::map<std::string, SentTarget> targets_;       ///< sent last in this connection, by kind of sub-unit
    std::atomic<bool> is_heard_{false};               ///< since the last touch
    std::atomic<bool> is_asked_{false};               ///< whether it still holds
    std::chrono::steady_clock::time_point touched_{}; ///< after greet() the keeper's
    int refusals_ = 0;
    MessagePace catalog_pace_;
    MessagePace sub_unit_pace_;
    std::chrono::steady_clock::time_point next_balance_{}; ///< from when on steps of balance loops are taken
    std::atomic<bool> ended_{false};
};

} // namespace fathom::server
