#include "server/identity/listener_certificates.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/base/secret.hpp"
#include "core/net/tls_context.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 10s;
constexpr int kOwnDays = 825;
constexpr std::chrono::seconds kRenewOwnBefore = std::chrono::days(90);
constexpr std::chrono::seconds kWarnOfFilesBefore = std::chrono::days(14);
// Its end is the end of every agent's certificate: that takes longer to prepare.
constexpr std::chrono::seconds kWarnOfAuthorityBefore = std::chrono::days(180);
constexpr std::chrono::seconds kWarnEvery = std::chrono::days(1);

std::string digest_of(const net::Credential& credential)
{
    return sha256_hex(credential.certificate_pem + '\0' + credential.key_pem);
}

Result<net::TlsContext> make_rest_context(const net::Credential& credential)
{
    return net::make_server_context(credential, net::ClientCertificates::kNone, "");
}

} // namespace

ListenerCertificates::ListenerCertificates(CertificateFiles files, const Clock& clock, Metrics& metrics)
    : files_(std::move(files)), clock_(&clock), metrics_(&metrics)
{
}

Result<void> ListenerCertificates::read_files()
{
    if (!files_.read) return {};
    const Result<net::Credential> read = files_.read();
    const Result<void> taken = read ? take_files(*read) : read.error();
    if (!taken) return Error{Errc::kInvalid, files_.names + ": " + taken.error().detail};
    return {};
}

Result<void> ListenerCertificates::take_files(const net::Credential& read)
{
    if (Result<void> good = net::check_server_certificate(read); !good) return good;
    const Result<net::CertificateFacts> facts = net::read_certificate(read.certificate_pem);
    if (!facts) return facts.error();
    // At a start there is none that would be better, and whoever asks for the warning's reason can still get in.
    if (rest_ && facts->not_after <= clock_->now())
        return Error{Errc::kInvalid, "the certificate has expired at " + format_rfc3339(facts->not_after)};
    if (rest_ && facts->not_before > clock_->now())
        return Error{Errc::kInvalid, "the certificate is not good before " + format_rfc3339(facts->not_before)};
    Result<net::TlsContext> made = make_rest_context(read);
    if (!made) return made.error();
    rest_ = std::move(*made);
    files_digest_ = digest_of(read);
    files_until_ = facts->not_after;
    warned_.reset();
    log_info("certificate_taken", {{"files", files_.names},
                                   {"common_name", facts->common_name},
                                   {"serial", facts->serial_hex},
                                   {"not_after", format_rfc3339(facts->not_after)}});
    return {};
}

Result<void> ListenerCertificates::make_own(NetworkAuthorities authorities, std::vector<std::string> names)
{
    own_names_ = std::move(names);
    return change_authorities(std::move(authorities));
}

Result<void> ListenerCertificates::change_authorities(NetworkAuthorities authorities)
{
    if (Result<void> renewed = renew_own(authorities); !renewed) return renewed;
    authorities_ = std::move(authorities);
    return {};
}

Result<void> ListenerCertificates::renew_own(const NetworkAuthorities& authorities)
{
    const Result<net::Credential> credential = net::make_server_credential(authorities.signer(), own_names_, kOwnDays);
    if (!credential) return credential.error();
    const Result<net::CertificateFacts> facts = net::read_certificate(credential->certificate_pem);
    if (!facts) return facts.error();
    Result<net::TlsContext> agents = net::make_server_context(*credential, net::ClientCertificates::kOptional,
                                                              authorities.certificates.bundle_pem());
    if (!agents) return agents.error();
    Result<net::TlsContext> rest = make_rest_context(*credential);
    if (!rest) return rest.error();
    own_ = std::move(*agents);
    own_until_ = facts->not_after;
    if (show_agents_) show_agents_(own_);
    if (files_.read) return {};
    rest_ = std::move(*rest);
    if (show_rest_) show_rest_(rest_);
    return {};
}

void ListenerCertificates::show_on(Show rest, Show agents)
{
    show_rest_ = std::move(rest);
    show_agents_ = std::move(agents);
}

void ListenerCertificates::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "listener_certificates", [this] { return follow(); });
}

asio::awaitable<void> ListenerCertificates::follow()
{
    for (;;) {
        look();
        co_await net::TaskGroup::sleep(kLookEvery);
    }
}

void ListenerCertificates::look()
{
    if (files_.read) read_changed_files();
    if (own_until_ - clock_->now() < kRenewOwnBefore) {
        const Result<void> renewed = renew_own(authorities_);
        if (renewed)
            log_info("own_certificate_renewed", {{"not_after", format_rfc3339(own_until_)}});
        else
            log_limited("own_certificate_not_renewed", {{"error", renewed.error().detail}});
    }
    const bool may_warn = !warned_ || clock_->now() - *warned_ >= kWarnEvery;
    tell_expiry("rest", files_.read ? files_until_ : own_until_, may_warn && files_.read ? kWarnOfFilesBefore : 0s);
    tell_expiry("agents", own_until_, 0s);
    const AuthorityCertificates& certificates = authorities_.certificates;
    tell_expiry("authority", certificates.current.facts.not_after, may_warn ? kWarnOfAuthorityBefore : 0s,
                authority_advice(certificates.phase()));
}

void ListenerCertificates::read_changed_files()
{
    const Result<net::Credential> read = files_.read();
    // Its content tells what no time of a change does: links that were turned, and files that were put back.
    if (read && digest_of(*read) == files_digest_) {
        refusal_.clear();
        return;
    }
    const Result<void> taken = read ? take_files(*read) : read.error();
    if (taken) {
        refusal_.clear();
        if (show_rest_) show_rest_(rest_);
    } else if (taken.error().detail != refusal_) {
        refusal_ = taken.error().detail;
        log_error("certificate_refused", {{"files", files_.names},
                                          {"error", refusal_},
                                          {"shown_until", format_rfc3339(files_until_)},
                                          {"what_to_do", "mend the files; until then the certificate of before is "
                                                         "shown"}});
    }
}

void ListenerCertificates::tell_expiry(const char* certificate, Timestamp not_after, std::chrono::seconds warn_before,
                                       const std::string& what_to_do)
{
    const Timestamp now = clock_->now();
    const double left_s = Seconds(not_after - now).count();
    metrics_->set("fathom_certificate_expires_seconds",
                  "Until a certificate that this replica shows, or its authority, "
                  "expires.",
                  left_s, {{"certificate", certificate}});
    if (warn_before == 0s || not_after - now >= warn_before) return;
    warned_ = now;
    log_warning(not_after > now ? "certificate_expires_soon" : "certificate_expired",
                {{"certificate", certificate},
                 {"files", files_.read ? files_.names : ""},
                 {"not_after", format_rfc3339(not_after)},
                 {"what_to_do", what_to_do}});
}

} // namespace fathom::server
