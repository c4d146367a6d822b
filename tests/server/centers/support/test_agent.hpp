#pragma once

#include "core/net/client.hpp"
#include "core/net/server.hpp"
#include "schema/link/messages.hpp"
#include "server/centers/sessions/agent_hub.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <mutex>

namespace fathom::server::test {

/// A jobs room that notes what sessions tell it. Thread-safe.
class FakeGateway final : public AttemptGateway {
  public:
    asio::awaitable<Result<Reconciliation>> reconcile(Reporter reporter,
                                                      std::vector<link::InventoryItem> inventory) override;
    asio::awaitable<Result<PendingOrders>> pending_orders(Reporter reporter, std::vector<std::string> on_their_way,
                                                          std::int64_t room_bytes) override;
    asio::awaitable<Result<std::vector<CenterId>>> centers_with_orders(std::string replica) override;
    asio::awaitable<std::vector<Result<void>>> take_reports(Reporter reporter,
                                                            std::vector<AttemptReport> reports) override;
    asio::awaitable<Result<void>> attempt_output(Reporter reporter, link::AttemptOutput output) override;
    asio::awaitable<Result<void>> note_queues(Reporter reporter, link::QueueReport report,
                                              CatalogNotice notice) override;

    /// What pending_orders() gives until the start is acknowledged.
    void order(link::Body order);
    /// The next report is answered by this error.
    void fail_next(Error error);
    /// Output is stored when this ends, and not before.
    void hold_output();
    void release_output();
    /// One line for each call: "started att_…".
    std::vector<std::string> calls() const;
    bool has_call(const std::string& line) const;
    /// What sessions said of the catalog with each report of queues that was not refused.
    std::vector<CatalogNotice> notices() const;
    /// How often pending_orders() was asked.
    int polls() const;

  private:
    Result<void> note(const std::string& line);
    Result<void> take(const AttemptReport& report);

    mutable std::mutex mutex_;
    std::vector<link::Body> orders_;
    std::vector<std::string> calls_;
    std::vector<CatalogNotice> notices_;
    std::optional<Error> failure_;
    bool holds_output_ = false;
    int polls_ = 0;
    std::vector<CenterId> centers_; ///< that were asked for
};

/// A room that notes what agents tell of their balance loops. Thread-safe.
class FakeBalance final : public BalanceGateway {
  public:
    asio::awaitable<Result<void>> take_steps(Reporter reporter, BalanceSteps steps) override;
    /// Message by message.
    std::vector<BalanceSteps> taken() const;

  private:
    mutable std::mutex mutex_;
    std::vector<BalanceSteps> taken_;
};

/// A room of sub-units with the targets that a test sets. Thread-safe.
class FakeSubUnits final : public SubUnitGateway {
  public:
    asio::awaitable<Result<void>> take_state(Reporter reporter, link::SubUnitState state) override;
    asio::awaitable<Result<void>> take_request(Reporter reporter, MessageId message,
                                               link::SubUnitRequest request) override;
    asio::awaitable<Result<std::vector<link::SubUnitTarget>>> targets(Reporter reporter) override;

    void set(link::SubUnitTarget target);
    /// What requests are answered by from now on.
    void answer(Result<void> answer);
    /// One line for each call: "state", "gain 1".
    std::vector<std::string> calls() const;

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> calls_;
    std::vector<link::SubUnitTarget> targets_;
    Result<void> answer_;
};

/// A room whose operators are as the test says. Thread-safe.
class FakeLibrary final : public LibrarySource {
  public:
    std::shared_ptr<const link::MatchLibrary> match_library() const override;
    void set(link::MatchLibrary library);

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<const link::MatchLibrary> library_ = std::make_shared<const link::MatchLibrary>();
};

/// A running agents' listener with everything behind it.
class AgentServer {
  public:
    /// @param hello_time  for a connection to say who it is; a short one is for tests of that time alone.
    explicit AgentServer(std::chrono::milliseconds hello_time = std::chrono::minutes(5));
    ~AgentServer();
    AgentServer(const AgentServer&) = delete;
    AgentServer& operator=(const AgentServer&) = delete;

    struct Enrolled {
        CenterId center;
        net::Credential credential;
    };
    /// How many wake-ups "catalog" of this center were heard.
    int catalog_notices(const CenterId& center) const;
    /// Makes a token and uses it.
    Enrolled enrol(const std::string& center_name);
    net::TlsContext client_context(const net::Credential* credential) const;
    net::Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }

    TestStore store;
    fathom::test::TestIo io;
    FakeGateway gateway;
    FakeBalance balance;
    FakeSubUnits sub_units;
    FakeLibrary library;
    net::Credential authority;
    AuthorityHolder authorities; ///< that it tells its agents of; at first `authority` alone
    std::unique_ptr<EnrolmentService> enrolment;
    std::unique_ptr<AgentHub> hub;

  private:
    Metrics metrics_;
    mutable std::mutex mutex_;
    std::map<std::string, int> catalog_notices_;
    std::unique_ptr<Notifier> notifier_;
    std::unique_ptr<net::Server> server_;
};

/// The agent's end of a connection.
class TestAgent {
  public:
    TestAgent(AgentServer& server, const net::Credential* credential);

    /// Sends a message and returns its id.
    MessageId send(link::Body body);
    void send_text(std::string text);
    /// The next message of this kind, others are dropped; fails the test when the connection ends.
    template <class Kind>
    Kind expect()
    {
        for (;;) {
            Result<std::string> text = server_->io.run(socket_->read());
            if (!text) {
                ADD_FAILURE() << "the connection ended: " << text.error().detail;
                return {};
            }
            auto message = std::get<link::Message>(link::decode(*text));
            last_id_ = message.id;
            if (auto* wanted = std::get_if<Kind>(&message.body)) return std::move(*wanted);
            ++dropped_;
        }
    }
    /// Reads until the connection ends and gives the reason.
    std::string expect_end();
    /// Hello with a catalog, and the server's answer.
    link::Welcome greet(Catalog catalog = golden_catalog(), std::vector<link::InventoryItem> inventory = {});
    /// Sends, and waits for the acknowledgement of just this message.
    link::Ack send_and_wait(link::Body body);
    /// Id of the message that expect() returned.
    MessageId last_id() const { return last_id_; }
    /// Messages that expect() passed over.
    int dropped() const { return dropped_; }
    void close() { socket_->close("done"); }

  private:
    AgentServer* server_;
    std::shared_ptr<net::WebSocket> socket_;
    MessageId last_id_;
    int dropped_ = 0;
};

} // namespace fathom::server::test
