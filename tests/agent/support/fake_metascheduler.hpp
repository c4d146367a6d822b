#pragma once

#include "core/net/tls.hpp"
#include "schema/link/messages.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace fathom::agent::test {

/// A metascheduler as agents see it: enrolment and the link, over real TLS on a free port. It has no
/// opinions: tests say what it sends. Thread-safe.
class FakeMetascheduler {
  public:
    FakeMetascheduler();
    ~FakeMetascheduler();
    FakeMetascheduler(const FakeMetascheduler&) = delete;
    FakeMetascheduler& operator=(const FakeMetascheduler&) = delete;

    static constexpr const char* kToken = "fen_good";

    std::string address() const; ///< localhost:PORT
    const std::string& authority_pem() const;

    MessageId send(link::Body body);
    void send_raw(std::string text);
    /// Whether messages are acknowledged from now on; true at first.
    void set_acknowledging(bool acknowledging);
    /// What the next greeting says.
    void set_welcome(link::Welcome welcome);
    void drop_connection();

    /// Everything received so far, on all connections, but heartbeats.
    std::vector<link::Message> received() const;
    std::size_t count(const std::function<bool(const link::Message&)>& is_wanted) const;
    /// Waits (at most 60 s) for the first message that fits; throws when none comes.
    link::Message wait_for(const std::string& what, const std::function<bool(const link::Message&)>& is_wanted) const;
    /// The first body of a type that belongs to the attempt.
    template <class Body>
    Body wait_for_attempt(const AttemptId& id) const
    {
        const auto fits = [&](const link::Message& message) {
            const Body* body = std::get_if<Body>(&message.body);
            return body != nullptr && attempt_of(*body) == id;
        };
        return std::get<Body>(wait_for(std::string(link::type_name(Body{})) + " of " + id.value, fits).body);
    }

    static AttemptId attempt_of(const link::AttemptStarted& body) { return body.attempt_id; }
    static AttemptId attempt_of(const link::AttemptOutput& body) { return body.attempt_id; }
    static AttemptId attempt_of(const link::AttemptEnded& body) { return body.end.attempt_id; }

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace fathom::agent::test
