#pragma once

#include "core/base/result.hpp"
#include "server/store/transaction.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fathom::server {

/// Wake-ups between replicas through LISTEN/NOTIFY on one channel. A wake-up carries a topic and a short
/// payload; it says "look again", never data that must not be lost: after a reconnect every subscriber is
/// called once with an empty payload.
/// Each topic's subscriber says what it is for and what its payload names; the most frequent ones are "route"
/// (something changed for waiting jobs; payload "submitted": there are more of them), "dispatch" (payload: center id;
/// orders wait), "event" (payload: id of the newest job_event) and "catalog" (centers, unit types, operators,
/// measurements). Thread-safe; callbacks run on the notifier's own thread and must be short.
class Notifier {
  public:
    explicit Notifier(std::string url);
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    using Callback = std::function<void(const std::string& payload)>;
    /// Before start() only.
    void subscribe(std::string topic, Callback callback);
    void start();
    void stop();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Sends a wake-up when the transaction commits. Equal ones within one transaction are joined by PostgreSQL.
void notify(pqxx::transaction_base& transaction, std::string_view topic, std::string_view payload);

} // namespace fathom::server
