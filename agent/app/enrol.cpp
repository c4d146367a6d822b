#include "agent/app/enrol.hpp"

#include "agent/app/agent_folder.hpp"
#include "agent/app/state_folder.hpp"
#include "agent/link/enrolment.hpp"
#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "core/net/client.hpp"
#include "core/net/tls_context.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kTarget = "/api/v1/agents:enrol";
constexpr const char* kTokenHint =
    "an administrator makes a new token with: fathom enrolment-token create --center NAME";

struct EnrolOptions {
    std::string server;
    std::filesystem::path ca;
    std::string token_file;
    std::filesystem::path state_dir;
    bool force{};
};

Result<std::string> read_token(const std::string& file)
{
    std::string token;
    if (file == "-") {
        std::getline(std::cin, token);
    } else {
        Result<std::string> content = read_file(file, 65536);
        if (!content) return content.error();
        token = std::move(*content);
    }
    const std::size_t first = token.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return Error{Errc::kInvalid, "there is no token in " + file};
    return token.substr(first, token.find_last_not_of(" \t\r\n") + 1 - first);
}

/// The answer's own words about what was wrong.
Error refusal(const net::ClientResponse& response)
{
    Error error{response.status == 401 || response.status == 403 ? Errc::kForbidden : Errc::kInvalid,
                "the server answered " + std::to_string(response.status)};
    const Result<Json> json = parse_json(response.body);
    if (!json || !json->is_object()) return error;
    const auto text = [](const Json& object, const char* name) {
        return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                       : std::string();
    };
    if (const std::string detail = text(*json, "detail"); !detail.empty()) error.detail += ": " + detail;
    if (json->contains("errors") && (*json)["errors"].is_array()) {
        for (const Json& item : (*json)["errors"])
            error.fields.push_back({text(item, "field"), text(item, "detail")});
    }
    return error;
}

Result<Enrolment> parse_answer(const std::string& body, const std::string& asked_host)
{
    const Result<Json> json = parse_json(body);
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    Enrolment enrolment;
    enrolment.center_id = reader.required_string("center_id", {.min_length = 1, .max_length = 64});
    enrolment.center_name = reader.required_string("center_name", {.min_length = 1, .max_length = 128});
    enrolment.credential.certificate_pem =
        reader.required_string("certificate_pem", {.min_length = 1, .max_length = 65536});
    enrolment.authority_pem = reader.required_string("ca_pem", {.min_length = 1, .max_length = 1U << 20U});
    enrolment.host = reader.optional_string("agent_host", {.max_length = 255}).value_or("");
    if (enrolment.host.empty()) enrolment.host = asked_host;
    enrolment.port = static_cast<std::uint16_t>(reader.required_integer("agent_port", 1, 65535));
    reader.finish(UnknownFields::kIgnore);
    return value_or_errors(std::move(enrolment), std::move(errors), "the server's answer");
}

Result<Enrolment> ask_server(const EnrolOptions& options, const std::string& authority, const std::string& token,
                             const std::string& key_pem)
{
    const Result<net::Endpoint> endpoint = net::parse_endpoint(options.server);
    if (!endpoint) return endpoint.error();
    const Result<net::TlsContext> tls = net::make_client_context(authority, nullptr);
    if (!tls) return tls.error();
    const Result<std::string> request = net::make_signing_request(key_pem, "fathom-agent");
    if (!request) return request.error();

    net::HttpClient client(*endpoint, *tls);
    const Json body = {{"token", token}, {"signing_request_pem", *request}};
    const Result<net::ClientResponse> response =
        client.request(net::Method::kPost, kTarget,
                       {{"Content-Type", "application/json"}, {"Accept", "application/json"}}, body.dump());
    if (!response) return response.error();
    if (response->status != 201) return refusal(*response);
    Result<Enrolment> enrolment = parse_answer(response->body, endpoint->host);
    if (enrolment) enrolment->server = options.server;
    return enrolment;
}

/// Makes the folder for key and certificate the working folder, and becomes its user: from here on there is no root.
Result<void> enter_agent_folder(const std::filesystem::path& state_dir)
{
    const Result<OpenFile> lock = take_state_lock(state_dir);
    // With --force while the agent runs: its folder is as it needs it.
    const bool is_running = !lock && lock.error().code == Errc::kConflict;
    if (!lock && !is_running) return lock.error();
    const Result<AgentFolder> folder = is_running ? open_agent_folder(state_dir) : prepare_agent_folder(state_dir);
    if (!folder) return folder.error();
    if (Result<void> entered = enter(*folder); !entered) return entered;
    return give_up_rights(folder->user);
}

Result<Enrolment> enrol(const EnrolOptions& options)
{
    if (is_enrolled(options.state_dir) && !options.force)
        return Error{Errc::kConflict, options.state_dir.string() + " is enrolled already; --force replaces that"};
    // Checked before the token is spent. Passable for others, because jobs may have to reach their folders.
    if (::mkdir(options.state_dir.c_str(), ::getuid() == 0 ? 0711 : 0700) != 0 && errno != EEXIST)
        return Error{Errc::kUnavailable, "cannot make " + options.state_dir.string() + ": " +
                                             std::error_code(errno, std::generic_category()).message()};
    if (::access(options.state_dir.c_str(), W_OK) != 0)
        return Error{Errc::kUnavailable, "cannot write in " + options.state_dir.string()};
    const Result<std::string> token = read_token(options.token_file);
    if (!token) return token.error();
    const Result<std::string> authority = read_file(options.ca, 1U << 20U);
    if (!authority) return authority.error();
    if (Result<void> entered = enter_agent_folder(options.state_dir); !entered) return entered.error();
    Result<std::string> key = net::make_private_key();
    if (!key) return key.error();
    Result<Enrolment> enrolment = ask_server(options, *authority, *token, *key);
    if (!enrolment) return enrolment;
    enrolment->credential.key_pem = std::move(*key);
    if (const Result<void> stored = EnrolmentFiles(".").store(*enrolment); !stored) return stored.error();
    return enrolment;
}

std::string way_out(Errc code)
{
    if (code == Errc::kForbidden || code == Errc::kUnauthenticated || code == Errc::kInvalid) return kTokenHint;
    if (code == Errc::kUnavailable || code == Errc::kDeadline)
        return "check --server, --ca (the server writes ca.pem into its state folder) and the network; the token is "
               "unused";
    return "";
}

} // namespace

int enrol_command(int argc, const char* const* argv)
{
    EnrolOptions options;
    CLI::App app("Makes a key for this center and has the metascheduler sign it, with a one-time token.",
                 "fathom-agent enrol");
    app.add_option("--server", options.server, "the metascheduler, ADDR:PORT: its REST or its agent listener")
        ->required();
    app.add_option("--ca", options.ca, "certificate authority of the server: a copy of its ca.pem")->required();
    app.add_option("--token-file", options.token_file, "file with the enrolment token; - reads standard input")
        ->required();
    app.add_option("--state-dir", options.state_dir, "folder for key, certificate and spool; made when missing")
        ->required();
    app.add_flag("--force", options.force, "replace an enrolment that is there already");
    app.footer("Exit codes: 0 enrolled, 1 failed, 2 wrong use. Then: fathom-agent run --state-dir DIR");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    const Result<Enrolment> enrolment = enrol(options);
    if (!enrolment) {
        const Error error = enrolment.error();
        std::cerr << "fathom-agent enrol: " << describe(error) << "\n";
        if (const std::string hint = way_out(error.code); !hint.empty()) std::cerr << "  " << hint << "\n";
        return 1;
    }
    std::cout << "enrolled as center " << enrolment->center_name << " (" << enrolment->center_id << ")\n"
              << "next: fathom-agent run --state-dir " << options.state_dir.string() << "\n";
    return 0;
}

} // namespace fathom::agent
