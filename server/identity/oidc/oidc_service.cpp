#include "server/identity/oidc/oidc_service.hpp"

#include "core/base/log_limit.hpp"
#include "core/base/secret.hpp"
#include "core/net/network.hpp"
#include "server/identity/api_credential.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/oidc/oidc_store.hpp"

namespace fathom::server {
namespace {

using Why = OidcRefusal::Why;

constexpr std::int64_t kMaxUnderWay = 5000; ///< sign-ins, of all people
constexpr double kBurst = 30;
constexpr double kPerSecond = 0.5;
constexpr std::size_t kWatchedNetworks = 10000;
constexpr ComputePoolOptions kThreads{.threads = 4, .most_waiting = 64};

OidcRefusal refusal_of(const Error& error)
{
    switch (error.code) {
    case Errc::kUnavailable:
    case Errc::kDeadline:
    case Errc::kTooMany:
        return {Why::kUnreachable, error.detail, {}, {}};
    case Errc::kForbidden:
    case Errc::kInvalid:
    case Errc::kTooLarge:
        return {Why::kWrongAnswer, error.detail, {}, {}};
    default:
        return {Why::kNotNow, error.detail, {}, {}};
    }
}

/// Whether who called can have caused it. A wrong answer counts, too: a made-up code is answered by one, as is a wrong
/// setting here.
bool is_by_caller(Why why)
{
    return why != Why::kUnreachable && why != Why::kNotNow;
}

/// Only the characters that OAuth gives to an error's code.
std::string oauth_word(std::string_view text)
{
    std::string word;
    for (const char c : text.substr(0, 64))
        word += (c >= 'a' && c <= 'z') || c == '_' ? c : '?';
    return word;
}

} // namespace

OidcService::OidcService(OidcSettings settings, Fetch fetch, Database& database, IdentityService& identity,
                         SessionService& sessions, const Clock& clock, Metrics& metrics)
    : settings_(std::move(settings)), database_(&database), identity_(&identity), sessions_(&sessions),
      metrics_(&metrics), provider_(settings_, std::move(fetch), clock), begun_(kBurst, kPerSecond, kWatchedNetworks),
      refused_(kBurst, kPerSecond, kWatchedNetworks), threads_(kThreads)
{
}

OidcRefusal OidcService::noted(const SessionService::SignIn& sign_in, OidcRefusal refusal)
{
    const std::string_view why = to_string(refusal.why);
    metrics_->count("fathom_oidc_sign_ins_total", "Sign-ins by the OpenID Connect provider, by how they ended",
                    {{"outcome", std::string(why)}});
    const std::string network = net::network_of(sign_in.remote_address);
    if (refusal.why == Why::kUnknown || refusal.why == Why::kTooMany) // what strangers can cause at will
        log_limited("oidc_sign_in_refused", {{"reason", why}, {"from", network}, {"request_id", sign_in.request_id}});
    else
        log_warning("oidc_sign_in_refused", {{"reason", why},
                                             {"detail", refusal.detail},
                                             {"account", refusal.name},
                                             {"from", network},
                                             {"request_id", sign_in.request_id}});
    return refusal;
}

/// What admit_person() has not seen.
asio::awaitable<OidcRefusal> OidcService::audited(SessionService::SignIn sign_in, OidcRefusal refusal)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        audit(transaction, "oidc", "session.refuse", settings_.issuer, sign_in.request_id,
              {{"reason", std::string(to_string(refusal.why))}, {"detail", refusal.detail}});
        return {};
    };
    co_await database_->run(work); // without it the log has the line all the same
    co_return noted(sign_in, std::move(refusal));
}

asio::awaitable<std::variant<OidcService::Begun, OidcRefusal>>
OidcService::begin(SessionService::SignIn sign_in, std::string browser_secret, std::string return_to)
{
    const auto now = std::chrono::steady_clock::now();
    const std::string network = net::network_of(sign_in.remote_address);
    OidcRefusal refusal{Why::kTooMany, {}, {}, {}};
    if (!begun_.allows(network, now)) co_return noted(sign_in, std::move(refusal));
    begun_.record_failure(network, now);

    const IdentityProvider::Authorization authorization{
        .state = new_secret(""), .nonce = new_secret(""), .code_verifier = new_secret("")};
    auto ask = [&] { return provider_.authorization_url(authorization); };
    const Result<std::string> url = co_await threads_.run("", ask);
    if (!url) co_return noted(sign_in, refusal_of(url.error()));
    if (browser_secret.empty()) browser_secret = new_secret("");
    const NewOidcSignIn begun{.state_sha256 = sha256_hex(authorization.state),
                              .browser_sha256 = sha256_hex(browser_secret),
                              .nonce = authorization.nonce,
                              .code_verifier = authorization.code_verifier,
                              .return_to = std::move(return_to),
                              .valid_s = std::chrono::seconds(kOidcSignInValidity).count(),
                              .most = kMaxUnderWay};
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        insert_oidc_sign_in(transaction, begun);
        return {};
    };
    const Result<void> kept = co_await database_->run(work);
    refusal = OidcRefusal{Why::kNotNow, "the sign-in could not be kept", {}, {}};
    if (!kept) co_return noted(sign_in, std::move(refusal));
    Begun answer{*url, std::move(browser_secret)};
    co_return answer;
}

asio::awaitable<std::variant<OidcService::Finished, OidcRefusal>>
OidcService::finish(SessionService::SignIn sign_in, std::string browser_secret, Callback callback)
{
    OidcRefusal refusal{Why::kUnknown, {}, {}, {}};
    // Strangers can call this at will: what cannot be one of ours is not looked up.
    if (browser_secret.empty() || !is_plain_secret(callback.state)) co_return noted(sign_in, std::move(refusal));
    const std::string network = net::network_of(sign_in.remote_address);
    const auto now = std::chrono::steady_clock::now();
    refusal.why = Why::kTooMany;
    if (!refused_.take(network, now)) co_return noted(sign_in, std::move(refusal));
    std::variant<Finished, OidcRefusal> outcome =
        co_await finish_begun(std::move(sign_in), std::move(browser_secret), std::move(callback));
    const auto* const refused = std::get_if<OidcRefusal>(&outcome);
    if (refused == nullptr || !is_by_caller(refused->why)) refused_.give_back(network, now);
    co_return outcome;
}

asio::awaitable<std::variant<OidcService::Finished, OidcRefusal>>
OidcService::finish_begun(SessionService::SignIn sign_in, std::string browser_secret, Callback callback)
{
    const std::string state = sha256_hex(callback.state);
    const std::string browser = sha256_hex(browser_secret);
    auto take = [&](pqxx::work& transaction) -> Result<std::optional<OidcSignInRow>> {
        return take_oidc_sign_in(transaction, state, browser);
    };
    const Result<std::optional<OidcSignInRow>> taken = co_await database_->run(take);
    OidcRefusal refusal{Why::kNotNow, "the sign-in could not be looked up", {}, {}};
    if (!taken) co_return noted(sign_in, std::move(refusal));
    refusal.why = Why::kUnknown;
    if (!*taken) co_return noted(sign_in, std::move(refusal));
    const OidcSignInRow& row = **taken;
    if (!callback.error.empty()) {
        refusal = OidcRefusal{Why::kDenied, oauth_word(callback.error), {}, {}};
        co_return co_await audited(std::move(sign_in), std::move(refusal));
    }
    IdentityProvider::Redemption redemption{.code = std::move(callback.code),
                                            .code_verifier = row.code_verifier,
                                            .nonce = row.nonce,
                                            .issuer = std::move(callback.issuer)};
    co_return co_await finish_taken(std::move(sign_in), std::move(redemption), row.return_to);
}

asio::awaitable<std::variant<OidcService::Finished, OidcRefusal>>
OidcService::finish_taken(SessionService::SignIn sign_in, IdentityProvider::Redemption redemption,
                          std::string return_to)
{
    auto redeem = [&] { return provider_.redeem(redemption); };
    const Result<Person> person = co_await threads_.run("", redeem);
    if (!person) co_return co_await audited(std::move(sign_in), refusal_of(person.error()));
    auto admit = [&](pqxx::work& transaction) -> Result<OidcAdmission> {
        return admit_person(transaction, settings_, *person, sign_in.request_id);
    };
    Result<OidcAdmission> admission = co_await database_->run(admit);
    OidcRefusal refusal{Why::kNotNow, "the account could not be looked up", {}, {}};
    if (!admission) co_return noted(sign_in, std::move(refusal));
    if (admission->has_changed) identity_->forget_known();
    if (admission->refusal) co_return noted(sign_in, std::move(*admission->refusal));
    const std::string account = admission->principal.name;
    const std::string role(to_string(admission->principal.role));
    Result<SessionService::Opened> opened = co_await sessions_->open_for_account(
        sign_in, std::move(admission->principal), account, std::move(admission->detail));
    refusal.detail = "the session could not be opened";
    if (!opened) co_return noted(sign_in, std::move(refusal));
    metrics_->count("fathom_oidc_sign_ins_total", "Sign-ins by the OpenID Connect provider, by how they ended",
                    {{"outcome", "signed_in"}});
    log_info("oidc_signed_in", {{"account", account},
                                {"role", role},
                                {"from", net::network_of(sign_in.remote_address)},
                                {"request_id", sign_in.request_id}});
    Finished finished{std::move(*opened), std::move(return_to)};
    co_return finished;
}

} // namespace fathom::server
