#pragma once

#include "core/net/http.hpp"
#include "schema/link/messages.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fathom::server {

namespace asio = boost::asio;

/// Who speaks for a center: a session of its agent, until a newer one takes its place or the center is revoked.
struct Reporter {
    CenterId center_id;
    /// Of the session; empty: not of a session, so that nothing can have taken its place.
    std::optional<std::int64_t> epoch{};

    Reporter(CenterId center) : center_id(std::move(center)) {} // NOLINT(google-explicit-constructor): it is its name
    Reporter(CenterId center, std::int64_t session_epoch) : center_id(std::move(center)), epoch(session_epoch) {}
};

/// The agent has an order to start an attempt (placed -> dispatched), or refused it: then the attempt has ended.
struct StartAcknowledged {
    AttemptId attempt_id;
    std::optional<Error> refusal{};
};

/// What an agent says of how far an attempt is.
using AttemptReport = std::variant<StartAcknowledged, link::AttemptStarted, link::AttemptEnded>;

inline const AttemptId& attempt_of(const AttemptReport& report)
{
    if (const auto* started = std::get_if<link::AttemptStarted>(&report)) return started->attempt_id;
    if (const auto* ended = std::get_if<link::AttemptEnded>(&report)) return ended->end.attempt_id;
    return std::get<StartAcknowledged>(report).attempt_id;
}

/// Whether a change makes all replicas read the catalog anew in its own transaction, or its caller tells them after it.
enum class CatalogNotice { kNow, kLater };

/// What an agent's session needs from the jobs room. Every call is idempotent, first writer wins, refuses attempts of
/// other centers with kNotFound, and changes nothing for a session that was superseded or revoked (kUnavailable).
class AttemptGateway {
  public:
    virtual ~AttemptGateway() = default;

    /// On connect: which of the agent's attempts to stop or forget; attempts that the server believes
    /// dispatched or running at this center, but the agent does not hold, end as lost.
    struct Reconciliation {
        std::vector<AttemptId> stop;
        std::vector<AttemptId> forget;
    };
    virtual asio::awaitable<Result<Reconciliation>> reconcile(Reporter reporter,
                                                              std::vector<link::InventoryItem> inventory) = 0;

    /// What this center must be told now: a StartAttempt for each placed attempt, as many as there is room for, and a
    /// CancelAttempt for each live attempt whose job was cancelled, RecallAttempt for each that is called back.
    struct PendingOrders {
        std::vector<link::Body> bodies;
        bool has_more{false}; ///< to start, when there is room again
    };
    /// @param on_their_way  starts that are left out: they were sent and are not yet acknowledged
    /// @param room_bytes    for the specifications of starts
    virtual asio::awaitable<Result<PendingOrders>>
    pending_orders(Reporter reporter, std::vector<std::string> on_their_way, std::int64_t room_bytes) = 0;

    /// The centers with a session at this replica for which pending_orders() has something.
    virtual asio::awaitable<Result<std::vector<CenterId>>> centers_with_orders(std::string replica) = 0;

    /// Carries out reports in their order, as many as may in one transaction. One that cannot be carried out changes
    /// nothing for the others. @return what became of each
    virtual asio::awaitable<std::vector<Result<void>>> take_reports(Reporter reporter,
                                                                    std::vector<AttemptReport> reports) = 0;
    virtual asio::awaitable<Result<void>> attempt_output(Reporter reporter, link::AttemptOutput output) = 0;
    /// How attempts wait in the center's own batch system. Of others than waiting ones of this center it says nothing.
    /// @param notice  of what the report says of unit types.
    virtual asio::awaitable<Result<void>> note_queues(Reporter reporter, link::QueueReport report,
                                                      CatalogNotice notice) = 0;
};

} // namespace fathom::server
