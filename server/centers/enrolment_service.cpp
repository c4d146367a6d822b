#include "server/centers/enrolment_service.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/base/secret.hpp"
#include "core/net/network.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <cctype>

namespace fathom::server {
namespace {

constexpr const char* kTokenPrefix = "fen_";
constexpr double kFailureBurst = 20;
constexpr double kFailuresPerSecond = 0.2;
constexpr std::size_t kWatchedNetworks = 10000;

bool is_center_name(const std::string& name)
{
    if (name.empty() || name.size() > 63 || CenterId::parse(name)) return false;
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return is_plain(name[0]) && std::all_of(name.begin(), name.end(),
                                            [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; });
}

Error refused_token(const std::string& detail)
{
    return Error{Errc::kUnauthenticated, detail};
}

} // namespace

EnrolmentService::EnrolmentService(Database& database, EnrolmentOptions options)
    : database_(&database), options_(std::move(options)), limiter_(kFailureBurst, kFailuresPerSecond, kWatchedNetworks)
{
}

asio::awaitable<Result<EnrolmentService::NewToken>>
EnrolmentService::create_token(Caller caller, std::string center_name, std::chrono::seconds valid)
{
    if (!is_center_name(center_name)) {
        Error error{Errc::kInvalid, "not a usable name for a center"};
        error.fields.push_back(
            {"center_name", "must be 1 to 63 letters, digits, '.', '_' or '-', a letter or digit first"});
        co_return error;
    }
    const std::string secret = new_secret(kTokenPrefix);
    auto work = [&](pqxx::work& transaction) -> Result<NewToken> {
        const EnrolmentTokenId id = EnrolmentTokenId::make();
        NewToken token{insert_enrolment_token(transaction, id, sha256_hex(secret), center_name, caller.actor, valid),
                       secret};
        audit(transaction, caller.actor, "enrolment_token.create", id.value, caller.request_id,
              {{"center_name", center_name}, {"valid_s", valid.count()}});
        return token;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<void>> EnrolmentService::withdraw_token(Caller caller, std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        const std::optional<EnrolmentTokenRecord> token = lock_enrolment_token_by_id(transaction, id);
        if (!token) return Error{Errc::kNotFound, "there is no enrolment token " + id};
        if (token->used_at)
            return Error{Errc::kConflict, "the token was used; to shut the center out, revoke " + token->center_name};
        if (token->expired) return {};
        expire_token(transaction, token->id);
        audit(transaction, caller.actor, "enrolment_token.withdraw", id, caller.request_id,
              {{"center_name", token->center_name}});
        return {};
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<EnrolmentTokenRecord>>> EnrolmentService::list_tokens(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<EnrolmentTokenRecord>> {
        return select_enrolment_tokens(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

Result<SignedCertificate> EnrolmentService::sign(const NetworkAuthorities& authorities, const CenterId& center,
                                                 const std::string& request_pem) const
{
    const Result<std::string> pem =
        net::sign_client_request(authorities.signer(), request_pem, center.value, options_.certificate_days);
    if (!pem) {
        Error error = pem.error();
        if (error.code == Errc::kInvalid) error.fields.push_back({"signing_request_pem", error.detail});
        return error;
    }
    const Result<net::CertificateFacts> facts = net::read_certificate(*pem);
    if (!facts) return facts.error();
    return SignedCertificate{*pem, *facts, authorities.certificates.current.facts.sha256_hex};
}

asio::awaitable<Result<EnrolmentService::Enrolment>>
EnrolmentService::enrol(std::string token, std::string request_pem, std::string request_id, std::string remote_address)
{
    const std::string network = net::network_of(remote_address);
    const auto now = std::chrono::steady_clock::now();
    if (!limiter_.allows(network, now))
        co_return Error{Errc::kTooMany, "too many refused enrolments from your address; try again in a minute"};
    auto work = [&](pqxx::work& transaction) { return enrol_in(transaction, token, request_pem, request_id); };
    Result<Enrolment> enrolment = co_await database_->run(std::move(work));
    if (!enrolment && enrolment.error().code == Errc::kUnauthenticated) limiter_.record_failure(network, now);
    if (enrolment)
        log_info("center_enrolled", {{"center", enrolment->center_name}, {"center_id", enrolment->center_id.value}});
    else
        log_limited("enrolment_refused", {{"request_id", request_id}, {"error", enrolment.error().detail}});
    co_return enrolment;
}

Result<EnrolmentService::Enrolment> EnrolmentService::enrol_in(pqxx::transaction_base& transaction,
                                                               const std::string& token, const std::string& request_pem,
                                                               const std::string& request_id) const
{
    const std::optional<EnrolmentTokenRecord> record = lock_enrolment_token(transaction, sha256_hex(token));
    if (!record) return refused_token("the enrolment token is not known");
    if (record->used_at) return refused_token("the enrolment token was used already");
    if (record->expired) return refused_token("the enrolment token has expired");

    const CenterId center = find_or_insert_center(transaction, record->center_name);
    const std::shared_ptr<const NetworkAuthorities> authorities = options_.authorities->get();
    const Result<SignedCertificate> certificate = sign(*authorities, center, request_pem);
    if (!certificate) return certificate.error(); // rolls the new center back too
    set_certificate(transaction, center, *certificate);
    mark_token_used(transaction, record->id);
    audit(transaction, record->id.value, "center.enrol", center.value, request_id,
          {{"center_name", record->center_name}, {"serial", certificate->facts.serial_hex}});
    notify(transaction, "center", center.value);
    notify(transaction, "catalog", center.value);
    return Enrolment{.center_id = center,
                     .center_name = record->center_name,
                     .certificate_pem = certificate->pem,
                     .ca_pem = authorities->certificates.bundle_pem(),
                     .agent_port = options_.agent_port,
                     .certificate_not_after = certificate->facts.not_after};
}

asio::awaitable<Result<std::string>> EnrolmentService::renew(CenterId center, std::string current_serial,
                                                             std::string request_pem)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::string> {
        const Result<SignedCertificate> certificate = sign(*options_.authorities->get(), center, request_pem);
        if (!certificate) return certificate.error();
        if (!renew_certificate(transaction, center, current_serial, *certificate))
            return Error{Errc::kNotFound, "the certificate is not this center's any more"};
        audit(transaction, center.value, "center.renew_certificate", center.value, current_serial,
              {{"serial", certificate->facts.serial_hex}});
        return certificate->pem;
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

} // namespace fathom::server
