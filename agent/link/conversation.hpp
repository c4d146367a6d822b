#pragma once

#include "agent/jobs/attempt_book.hpp"
#include "agent/link/balance_outbox.hpp"

namespace fathom::agent {

/// The other end, as far as a conversation is concerned. Its functions may be called from any thread.
struct Peer {
    std::function<bool(std::string)> send;  ///< false: gone or too slow
    std::function<void(std::string)> close; ///< with a reason
};

/// What the agent says to the metascheduler and does on its words, without sockets: greeting, spooled
/// messages in order until each is acknowledged, output, proof of life.
/// Not thread-safe: everything runs on the agent's one working thread.
class Conversation {
  public:
    /// The references must outlive it.
    Conversation(Spool& spool, AttemptBook& book, Catalog catalog)
        : spool_(spool), book_(book), catalog_(std::move(catalog))
    {
    }

    /// A new connection: says hello.
    void connected(Peer peer);
    void disconnected();
    /// After the last of those that came together, settle() answers orders among them.
    void receive(const link::Message& message);
    void settle();
    /// Something that was no message: refused by name, if it had one.
    void refuse(const link::DecodeFailure& failure);

    /// Does what time and the executor's changes bring. Call it every 100 ms or so, and when the executor says that
    /// something has changed.
    void tick(SteadyTime now);

    /// M9: reports a changed offer; a connection that comes later hears of it in the greeting.
    void offer_changed(Catalog catalog);
    /// M21: asks to be measured anew.
    /// @error kUnavailable  it could not be stored.
    Result<void> request_probes(const std::string& reason);
    /// R8: asks to give up or to gain sub-units.
    /// @error kUnavailable  it could not be stored.
    Result<void> request_sub_units(link::SubUnitRequest request);
    /// R8: says what this center has now; a connection that comes later hears of it after its greeting.
    void sub_units_changed(link::SubUnitState state);
    /// G9: says what jobs have of the GPUs' memory, unless it has said that last; a connection that comes later hears
    /// of it after its greeting.
    void tell_gpu_memory(GpuMemoryReport report);
    /// R10: what the balance loops have done since the last call; told as the metascheduler takes it.
    void tell_balance(std::vector<BalanceStep> steps) { balance_.add(std::move(steps)); }
    /// M9: says how far the center is with what it is to offer, and what it lacks, unless it has said that last.
    /// Nothing is said as long as there is no order and nothing lacks; a connection that comes later hears it after its
    /// greeting.
    void tell_resources(ResourceState state);
    /// M3: what is held of the operators that profiled jobs are matched with (link::MatchLibrary::digest; empty:
    /// nothing); said in each greeting from now on. Not called: this agent takes none.
    void holds_library(std::string digest) { library_digest_ = std::move(digest); }
    /// Which authorities' certificates are trusted (SHA-256, in hex); said in each greeting from now on. Not called:
    /// this agent takes no others.
    void trusts(std::vector<std::string> authorities) { authorities_ = std::move(authorities); }
    /// Which host jobs run on (link::Hello::host_id); said in each greeting from now on.
    void runs_on(std::string host_id) { host_id_ = std::move(host_id); }
    /// Called with those that are to be trusted; returns when they are safe on the disk.
    std::function<Result<void>(const link::TrustedAuthorities&)> on_authorities;
    /// Called with those that it is to hold.
    std::function<void(const link::MatchLibrary&)> on_match_library;
    /// Called with what this center is to offer.
    std::function<void(const ResourceOrder&)> on_resource_order;
    /// Called with what this center is to have.
    std::function<void(const link::SubUnitTarget&)> on_sub_unit_target;
    /// Called with what this center has asked for and the metascheduler does not take, and why.
    std::function<void(const link::SubUnitRequest&, const link::SubUnitRefusal&)> on_sub_units_refused;
    /// Called with what an order of an attempt says of programs that have the turn on a GPU at once; returns at once.
    std::function<void(const std::vector<GpuPair>&)> on_turn_pairs;
    /// Called with the pieces of kept files that are asked for; returns at once. tell_kept_file() answers.
    std::function<void(const link::KeptFileQuery&)> on_kept_file_query;
    /// What came of such a query. Where the connection has gone since, whoever asked asks again on the next one.
    void tell_kept_file(link::KeptFilePiece piece);
    /// Asks for a new certificate; false when there is nobody to ask.
    bool request_certificate(const std::string& request_pem);
    /// Called with a new certificate.
    std::function<void(std::string)> on_certificate;

    bool is_welcome() const { return welcome_; }

  private:
    void handle(const link::Welcome& welcome);
    void handle(const link::Ack& ack);
    void tell_refused(const MessageId& id, const Error& error);
    bool handle_order(const link::Message& message);
    void take_start(const link::Message& message, const AttemptOrder& order);
    void refuse_orders(const Error& error);
    void answer_order(const MessageId& id, const Result<void>& done);
    void acknowledge(const MessageId& id, std::optional<Error> error = std::nullopt);
    void say(const link::Message& message);
    void send(std::string text);
    bool send_spooled();
    void send_heartbeat();
    void send_sub_units();
    void send_gpu_memory();
    void send_resources();
    void send_balance(SteadyTime now);
    void send_queues();
    Result<void> ask(link::Body request);

    Spool& spool_;
    AttemptBook& book_;
    Catalog catalog_;
    std::optional<link::SubUnitState> sub_units_;
    std::optional<GpuMemoryReport> gpu_memory_;
    std::optional<ResourceState> resources_;
    std::optional<std::string> library_digest_;
    std::optional<std::vector<std::string>> authorities_;
    std::string host_id_; ///< empty: it is not known
    BalanceOutbox balance_;
    std::optional<Peer> peer_;
    bool welcome_{};
    bool greeted_otherwise_{};     ///< the offer has changed since the greeting, which waits for its answer
    bool takes_queues_{};          ///< the metascheduler
    std::int64_t last_sequence_{}; ///< of the spooled messages sent on this connection
    std::set<MessageId> travelling_;
    std::vector<MessageId> taken_; ///< orders that are not stored yet
    std::chrono::seconds heartbeat_{10};
    SteadyTime last_heartbeat_{};
    SteadyTime last_output_{};
};

} // namespace fathom::agent
