#pragma once

#include <pqxx/connection>
#include <pqxx/errorhandler>

#include <chrono>
#include <memory>
#include <string>

namespace fathom::server {

/// One connection and what it was set to. pqxx reconnects a dead one at BEGIN by itself and then sets the
/// session variables again.
class DatabaseLink {
  public:
    /// pqxx's exceptions pass through.
    DatabaseLink(const std::string& target, std::chrono::milliseconds statement_limit);

    pqxx::connection& operator*() { return connection_; }
    bool is_open() const { return connection_.is_open(); }
    /// The server sends nothing to a connection that asks nothing, but that it closes it.
    bool has_input() const;

  private:
    bool has_lz4();

    pqxx::connection connection_;
    pqxx::quiet_errorhandler quiet_; // notices would go to standard error, outside the log
};

/// @return null when there is no connection; `failure` says why then.
std::unique_ptr<DatabaseLink> connect_database(const std::string& url, std::chrono::milliseconds statement_limit,
                                               std::string& failure);

} // namespace fathom::server
