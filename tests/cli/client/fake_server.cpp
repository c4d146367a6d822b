#include "tests/cli/client/fake_server.hpp"

#include "cli/run.hpp"
#include "core/base/file.hpp"
#include "core/net/tls_context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace fathom::cli::test {
namespace {

const net::Credential& authority()
{
    static const net::Credential credential = net::make_authority("cli tests", 2).value();
    return credential;
}

net::TlsContext server_tls()
{
    static const net::Credential credential = net::make_server_credential(authority(), {"127.0.0.1"}, 2).value();
    return net::make_server_context(credential, net::ClientCertificates::kNone, "").value();
}

} // namespace

struct FakeServer::State {
    explicit State(Answers what) : answers(std::move(what))
    {
        net::Router router;
        for (const net::Method method :
             {net::Method::kGet, net::Method::kPost, net::Method::kPut, net::Method::kPatch, net::Method::kDelete})
            router.add(method, "/{path*}", [this](net::Request request) { return handle(std::move(request)); },
                       {.most_bytes = 8UL << 20U});
        server = std::make_unique<net::Server>(io, server_tls(), std::move(router), net::ServerLimits{}, metrics);
        server->listen({"127.0.0.1", 0}).value();
        ca_file = std::filesystem::temp_directory_path() /
                  ("fathom-cli-test-" + std::to_string(::getpid()) + "-" + std::to_string(server->port()) + ".pem");
        write_file(ca_file, authority().certificate_pem).value();
        thread = std::thread([this] { io.run(); });
    }

    ~State()
    {
        net::asio::co_spawn(io, server->stop(std::chrono::seconds(0)), net::asio::use_future).get();
        work.reset();
        io.stop();
        thread.join();
        std::filesystem::remove(ca_file);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    net::asio::awaitable<net::Response> handle(net::Request request)
    {
        const std::lock_guard lock(mutex);
        const std::string key = std::string(net::to_string(request.method)) + " " + request.path;
        requests.push_back(std::move(request));
        const auto found = answers.find(key);
        if (found == answers.end()) co_return refusal(Errc::kNotFound, "no such thing: " + key);
        std::vector<net::Response>& turn = found->second;
        net::Response next = turn.front();
        if (turn.size() > 1) turn.erase(turn.begin());
        co_return next;
    }

    Answers answers;
    std::vector<net::Request> requests;
    std::mutex mutex;
    Metrics metrics;
    net::asio::io_context io{1};
    net::asio::executor_work_guard<net::asio::io_context::executor_type> work{io.get_executor()};
    std::unique_ptr<net::Server> server;
    std::filesystem::path ca_file;
    std::thread thread;
};

FakeServer::FakeServer(Answers answers) : state_(std::make_unique<State>(std::move(answers))) {}
FakeServer::~FakeServer() = default;

std::string FakeServer::url() const
{
    return "https://127.0.0.1:" + std::to_string(state_->server->port());
}

std::string FakeServer::ca_file() const
{
    return state_->ca_file.string();
}

std::vector<net::Request> FakeServer::requests() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->requests;
}

net::Response answer(int status, const std::string& json)
{
    return net::json_response(status, json);
}

net::Response refusal(Errc code, const std::string& detail, std::vector<FieldError> fields)
{
    return net::problem(Error(code, detail, std::move(fields)), "req_test");
}

net::Response chunks(std::vector<std::string> texts)
{
    net::Response response;
    response.headers["Content-Type"] = "text/plain";
    response.stream = [texts](std::shared_ptr<net::BodyWriter> writer) -> net::asio::awaitable<void> {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (!co_await writer->write(texts[i])) co_return;
        }
    };
    return response;
}

net::Response broken_chunks(std::vector<std::string> texts)
{
    net::Response response = chunks(std::move(texts));
    response.stream = [whole = response.stream](std::shared_ptr<net::BodyWriter> writer) -> net::asio::awaitable<void> {
        co_await whole(writer);
        throw std::runtime_error("played: the connection breaks");
    };
    return response;
}

Ran fathom(std::vector<std::string> arguments, const Environment& environment, const std::string& input)
{
    const SystemClock clock;
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    Console console;
    console.in = &in;
    console.out = &out;
    console.err = &err;
    console.clock = &clock;
    console.environment = [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    const int code = run(std::move(arguments), console);
    return {code, out.str(), err.str()};
}

Ran fathom(const FakeServer& server, std::vector<std::string> arguments, const std::string& input)
{
    return fathom(std::move(arguments),
                  {{"FATHOM_URL", server.url()}, {"FATHOM_CA", server.ca_file()}, {"FATHOM_TOKEN", "fth_test"}}, input);
}

} // namespace fathom::cli::test
