#pragma once

#include "cli/text/console.hpp"
#include "core/net/server.hpp"

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace fathom::cli::test {

/// An in-process server that plays fixed answers, and remembers what it was asked.
class FakeServer {
  public:
    /// What it answers to `METHOD /path`, in turn; the last one again and again.
    using Answers = std::map<std::string, std::vector<net::Response>>;

    explicit FakeServer(Answers answers);
    ~FakeServer();
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    std::string url() const;
    /// PEM file of its authority.
    std::string ca_file() const;
    std::vector<net::Request> requests() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

net::Response answer(int status, const std::string& json);
net::Response refusal(Errc code, const std::string& detail, std::vector<FieldError> fields = {});
/// A streamed body: the chunks, one by one, then its end.
net::Response chunks(std::vector<std::string> texts);
/// The chunks, then the connection breaks in the middle of the body.
net::Response broken_chunks(std::vector<std::string> texts);

/// One run of the program, with its streams kept.
struct Ran {
    int code = -1;
    std::string out;
    std::string err;
};

using Environment = std::map<std::string, std::string>;

/// Runs `fathom` with these arguments.
Ran fathom(std::vector<std::string> arguments, const Environment& environment = {}, const std::string& input = "");

/// Runs it against the server, with a token.
Ran fathom(const FakeServer& server, std::vector<std::string> arguments, const std::string& input = "");

} // namespace fathom::cli::test
