// Very many agents in one process, for tests/load/agents: `enrol` gets each a certificate as fathom-agent enrol does,
// `run` connects them all and says each second how they are.

#include "agent/link/enrolment.hpp"
#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "core/net/tls_context.hpp"
#include "tests/load/simulated_agent.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace fathom::load {
namespace {

constexpr std::int64_t kTokenLife_s = 3600;
constexpr int kEnrolThreads = 4;

struct EnrolOptions {
    std::string server; ///< HOST:PORT of the REST interface
    std::filesystem::path authority;
    std::string token;
    std::int64_t count{};
    std::filesystem::path file; ///< where the enrolments go, one a line
};

struct RunOptions {
    std::filesystem::path file;   ///< of enrol
    std::filesystem::path orders; ///< gets a line for each ordered attempt: job, seconds of the monotonic clock
};

double monotonic_s()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The answer's body. Waits where the server asks for it.
Json ask(net::HttpClient& client, const std::string& path, const std::string& token, const Json& body)
{
    for (;;) {
        net::Headers headers{{"Content-Type", "application/json"}};
        if (!token.empty()) headers["Authorization"] = "Bearer " + token;
        const net::ClientResponse answer =
            client.request(net::Method::kPost, "/api/v1" + path, headers, body.dump()).value();
        if (answer.status == 201) return Json::parse(answer.body);
        if (answer.status != 429) throw std::runtime_error(path + ": " + std::to_string(answer.status) + answer.body);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}

Json enrol_one(net::HttpClient& client, const EnrolOptions& options, std::int64_t number)
{
    const std::string name = fmt::format("simulated-{:05}", number);
    const Json token =
        ask(client, "/enrolment-tokens", options.token, {{"center_name", name}, {"valid_s", kTokenLife_s}});
    const std::string key = net::make_private_key().value();
    Json enrolment = ask(client, "/agents:enrol", "",
                         {{"token", token.at("token")},
                          {"signing_request_pem", net::make_signing_request(key, "fathom-agent").value()}});
    enrolment["key_pem"] = key;
    return enrolment;
}

void enrol(const EnrolOptions& options)
{
    const net::Endpoint endpoint = net::parse_endpoint(options.server).value();
    const net::TlsContext tls = net::make_client_context(read_file(options.authority).value(), nullptr).value();
    std::ofstream file(options.file);
    std::mutex mutex;
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
        net::HttpClient client(endpoint, tls);
        for (std::int64_t number = next++; number < options.count; number = next++) {
            const Json enrolment = enrol_one(client, options, number);
            const std::scoped_lock lock(mutex);
            file << enrolment.dump() << "\n";
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < kEnrolThreads; ++i)
        threads.emplace_back(work);
    threads.clear();
    if (!file.flush()) throw std::runtime_error("cannot write " + options.file.string());
}

agent::Enrolment read_enrolment(const std::string& line)
{
    const Json json = Json::parse(line);
    agent::Enrolment enrolment;
    enrolment.host = "127.0.0.1";
    enrolment.port = json.at("agent_port").get<std::uint16_t>();
    enrolment.authority_pem = json.at("ca_pem").get<std::string>();
    enrolment.credential = {json.at("certificate_pem").get<std::string>(), json.at("key_pem").get<std::string>()};
    return enrolment;
}

/// Says each second how the agents are, until SIGTERM.
class Crowd {
  public:
    explicit Crowd(const RunOptions& options) : orders_(options.orders, std::ios::app), timer_(context_)
    {
        std::ifstream file(options.file);
        for (std::string line; std::getline(file, line);) {
            const agent::Enrolment enrolment = read_enrolment(line);
            const net::TlsContext tls =
                net::make_client_context(enrolment.authority_pem, &enrolment.credential).value();
            agents_.push_back(
                std::make_shared<SimulatedAgent>(enrolment, tls, counts_, [this](const JobId& job) { note(job); }));
        }
    }

    void run()
    {
        asio::signal_set signals(context_, SIGTERM, SIGINT);
        signals.async_wait([this](const boost::system::error_code&, int) { context_.stop(); });
        for (const auto& agent : agents_)
            asio::co_spawn(context_, agent->run(), asio::detached);
        tell();
        context_.run();
    }

  private:
    void note(const JobId& job) { orders_ << fmt::format("{}\t{:.6f}\n", job.value, monotonic_s()) << std::flush; }

    void tell()
    {
        const Json said{
            {"at_s", monotonic_s()},        {"agents", agents_.size()},     {"online", counts_.online},
            {"welcomes", counts_.welcomes}, {"failures", counts_.failures}, {"orders", counts_.orders},
            {"reasons", counts_.reasons},   {"repeats", counts_.repeats},   {"unacknowledged", counts_.unacknowledged}};
        std::cout << said.dump() << std::endl;
        timer_.expires_after(std::chrono::seconds(1));
        timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) tell();
        });
    }

    std::ofstream orders_;
    AgentCounts counts_;
    std::vector<std::shared_ptr<SimulatedAgent>> agents_;
    asio::io_context context_{1};
    asio::steady_timer timer_;
};

int main_of(int argc, char** argv)
{
    CLI::App app("Simulated agents, for tests/load/agents");
    app.require_subcommand(1);
    EnrolOptions enrolling;
    CLI::App* const enrol_verb = app.add_subcommand("enrol", "Enrol so many centers");
    enrol_verb->add_option("--server", enrolling.server, "HOST:PORT of the REST interface")->required();
    enrol_verb->add_option("--ca", enrolling.authority, "The server's ca.pem")->required();
    enrol_verb->add_option("--token", enrolling.token, "An administrator's")->required();
    enrol_verb->add_option("--count", enrolling.count, "Of centers")->required();
    enrol_verb->add_option("--file", enrolling.file, "For the certificates, one a line")->required();
    RunOptions running;
    CLI::App* const run_verb = app.add_subcommand("run", "Connect them all, until SIGTERM");
    run_verb->add_option("--file", running.file, "Of enrol")->required();
    run_verb->add_option("--orders", running.orders, "Gets a line for each order")->required();
    CLI11_PARSE(app, argc, argv);
    if (enrol_verb->parsed()) enrol(enrolling);
    if (run_verb->parsed()) Crowd(running).run();
    return 0;
}

} // namespace
} // namespace fathom::load

int main(int argc, char** argv)
{
    try {
        return fathom::load::main_of(argc, argv);
    } catch (const std::exception& e) {
        fmt::print(stderr, "simulated_agents: {}\n", e.what());
        return 1;
    }
}
