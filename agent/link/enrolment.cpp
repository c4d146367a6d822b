#include "agent/link/enrolment.hpp"

#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "schema/link/messages.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr const char* kFacts = "agent.json";
constexpr const char* kKey = "agent-key.pem";
constexpr const char* kCertificate = "agent-cert.pem";
constexpr const char* kAuthority = "ca.pem";

} // namespace

bool EnrolmentFiles::exist() const
{
    std::error_code ignored;
    return std::filesystem::exists(state_dir_ / kFacts, ignored);
}

Result<void> EnrolmentFiles::store(const Enrolment& enrolment) const
{
    const Json facts = {{"center_id", enrolment.center_id},
                        {"center_name", enrolment.center_name},
                        {"agent_host", enrolment.host},
                        {"agent_port", enrolment.port},
                        {"server", enrolment.server}};
    const std::vector<std::pair<const char*, std::string>> files{{kKey, enrolment.credential.key_pem},
                                                                 {kCertificate, enrolment.credential.certificate_pem},
                                                                 {kAuthority, enrolment.authority_pem},
                                                                 {kFacts, facts.dump(2) + "\n"}};
    for (const auto& [name, content] : files) {
        if (Result<void> done = write_file(state_dir_ / name, content, 0600); !done) return done;
    }
    return {};
}

Result<Enrolment> EnrolmentFiles::load() const
{
    const Result<std::string> text = read_file(state_dir_ / kFacts, 65536);
    if (!text) return text.error();
    const Result<Json> json = parse_json(*text);
    if (!json) return Error{Errc::kInvalid, (state_dir_ / kFacts).string() + ": " + json.error().detail};
    Enrolment enrolment;
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    enrolment.center_id = reader.required_string("center_id", {.max_length = 64});
    enrolment.center_name = reader.required_string("center_name", {.max_length = 128});
    enrolment.host = reader.required_string("agent_host", {.min_length = 1, .max_length = 255});
    enrolment.port = static_cast<std::uint16_t>(reader.required_integer("agent_port", 1, 65535));
    enrolment.server = reader.optional_string("server", {.max_length = 300}).value_or("");
    reader.finish(UnknownFields::kIgnore);
    if (!errors.empty()) return Error{Errc::kInvalid, (state_dir_ / kFacts).string() + " is damaged", errors};

    const std::vector<std::pair<const char*, std::string*>> files{{kKey, &enrolment.credential.key_pem},
                                                                  {kCertificate, &enrolment.credential.certificate_pem},
                                                                  {kAuthority, &enrolment.authority_pem}};
    for (const auto& [name, target] : files) {
        Result<std::string> content = read_file(state_dir_ / name, 1U << 20U);
        if (!content) return content.error();
        *target = std::move(*content);
    }
    return enrolment;
}

Result<void> EnrolmentFiles::store_certificate(const std::string& certificate_pem) const
{
    const Result<Enrolment> now = load();
    if (!now) return now.error();
    const net::Credential renewed{certificate_pem, now->credential.key_pem};
    if (const Result<void> good = net::check_client_certificate(renewed, now->authority_pem, now->center_id); !good)
        return good;
    const Result<net::CertificateFacts> old = net::read_certificate(now->credential.certificate_pem);
    const Result<net::CertificateFacts> facts = net::read_certificate(certificate_pem);
    if (!facts) return facts.error();
    if (old && facts->not_after < old->not_after)
        return Error{Errc::kInvalid, "the certificate ends sooner than the one it is to replace"};
    return write_file(state_dir_ / kCertificate, certificate_pem, 0600);
}

Result<void> EnrolmentFiles::store_authorities(const std::string& authorities_pem) const
{
    const Result<std::vector<net::CertificateFacts>> fresh = net::read_authorities(authorities_pem);
    if (!fresh) return fresh.error();
    const std::vector<std::string> trusted = trusted_authorities();
    const bool is_continued = std::any_of(fresh->begin(), fresh->end(), [&](const net::CertificateFacts& one) {
        return std::find(trusted.begin(), trusted.end(), one.sha256_hex) != trusted.end();
    });
    if (!is_continued) return Error{Errc::kInvalid, "none of these authorities was trusted before"};
    return write_file(state_dir_ / kAuthority, authorities_pem, 0600);
}

std::vector<std::string> EnrolmentFiles::trusted_authorities() const
{
    std::vector<std::string> trusted;
    const Result<std::string> pem = read_file(state_dir_ / kAuthority, 1U << 20U);
    const Result<std::vector<net::CertificateFacts>> facts = pem ? net::read_authorities(*pem) : pem.error();
    if (!facts) return trusted;
    for (const net::CertificateFacts& one : *facts)
        trusted.push_back(one.sha256_hex);
    trusted.resize(std::min(trusted.size(), link::kMaxAuthorities));
    return trusted;
}

bool is_renewal_due(const net::CertificateFacts& certificate, Timestamp now)
{
    return now >= certificate.not_before + (certificate.not_after - certificate.not_before) / 2;
}

} // namespace fathom::agent
