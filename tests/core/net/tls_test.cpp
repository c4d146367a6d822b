#include "core/net/tls_context.hpp"
#include "support.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

namespace fathom::net::test {
namespace {

struct CertificateFree {
    void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, CertificateFree>;

Certificate parse(const std::string& pem)
{
    BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    Certificate certificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
    BIO_free(bio);
    return certificate;
}

std::string rsa_key(unsigned bits)
{
    EVP_PKEY* key = EVP_RSA_gen(bits);
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string pem(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    EVP_PKEY_free(key);
    return pem;
}

std::chrono::seconds lifetime(const CertificateFacts& facts)
{
    return std::chrono::duration_cast<std::chrono::seconds>(facts.not_after - facts.not_before);
}

TEST(Authority, IsSelfSignedAndMaySignLeavesOnly)
{
    const Certificate certificate = parse(authority().certificate_pem);

    ASSERT_TRUE(certificate);
    EXPECT_EQ(X509_verify(certificate.get(), X509_get0_pubkey(certificate.get())), 1);
    EXPECT_EQ(X509_check_ca(certificate.get()), 1);
    EXPECT_EQ(X509_get_pathlen(certificate.get()), 0);
    EXPECT_EQ(read_certificate(authority().certificate_pem).value().common_name, "Test authority");
}

TEST(Authority, RefusesNamesThatAreNone)
{
    EXPECT_EQ(make_authority("", 1).error().code, Errc::kInvalid);
    EXPECT_EQ(make_authority(std::string(65, 'x'), 1).error().code, Errc::kInvalid);
    EXPECT_EQ(make_authority("two\nlines", 1).error().code, Errc::kInvalid);
}

TEST(ServerCredential, NamesHostsAndAddresses)
{
    const Credential credential = make_server_credential(authority(), {"a.example", "127.0.0.1", "::1"}, 30).value();
    const Certificate certificate = parse(credential.certificate_pem);

    EXPECT_EQ(X509_check_host(certificate.get(), "a.example", 0, 0, nullptr), 1);
    EXPECT_EQ(X509_check_host(certificate.get(), "b.example", 0, 0, nullptr), 0);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.1", 0), 1);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.2", 0), 0);
    const CertificateFacts facts = read_certificate(credential.certificate_pem).value();
    EXPECT_EQ(lifetime(facts), std::chrono::days(30) + std::chrono::minutes(5));
}

TEST(ServerCredential, RefusesNamesThatCouldAddOthers)
{
    for (const char* name : {"", "a.example,DNS:b.example", "a b", "a\n"})
        EXPECT_EQ(make_server_credential(authority(), {name}, 1).error().code, Errc::kInvalid) << name;
    EXPECT_EQ(make_server_credential(authority(), {}, 1).error().code, Errc::kInvalid);
}

TEST(ServerCredential, NeedsAnAuthorityWhoseKeyFits)
{
    const Credential other = make_authority("Other", 1).value();

    EXPECT_EQ(make_server_credential({authority().certificate_pem, other.key_pem}, {"a"}, 1).error().code,
              Errc::kInvalid);
    EXPECT_EQ(make_server_credential({"x", "y"}, {"a"}, 1).error().code, Errc::kInvalid);
}

TEST(ClientRequest, IsSignedWithTheNameThatTheAuthorityChose)
{
    const std::string request = make_signing_request(make_private_key().value(), "admin").value();

    const std::string pem = sign_client_request(authority(), request, "ctr_1", 7).value();

    const CertificateFacts facts = read_certificate(pem).value();
    EXPECT_EQ(facts.common_name, "ctr_1");
    EXPECT_EQ(facts.serial_hex.size(), 32U);
    EXPECT_EQ(facts.serial_hex.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(lifetime(facts), std::chrono::days(7) + std::chrono::minutes(5));
    const Certificate certificate = parse(pem);
    const Certificate issuer = parse(authority().certificate_pem);
    EXPECT_EQ(X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())), 1);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0), 1);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0), 0);
    EXPECT_EQ(X509_check_ca(certificate.get()), 0);
}

TEST(ClientRequest, IsRefusedWhenItIsNone)
{
    for (const std::string& request :
         {std::string(), std::string("hello"), authority().certificate_pem, std::string(100000, 'x')})
        EXPECT_EQ(sign_client_request(authority(), request, "ctr_1", 1).error().code, Errc::kInvalid);
}

TEST(ClientRequest, IsRefusedWhenItsSignatureIsWrong)
{
    const std::string request = make_signing_request(make_private_key().value(), "x").value();
    BIO* bio = BIO_new_mem_buf(request.data(), static_cast<int>(request.size()));
    X509_REQ* parsed = PEM_read_bio_X509_REQ(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    // The signature was made over the old key.
    EVP_PKEY* other = EVP_EC_gen("P-256");
    X509_REQ_set_pubkey(parsed, other);
    BIO* out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_REQ(out, parsed);
    char* data = nullptr;
    const long size = BIO_get_mem_data(out, &data);
    const std::string forged(data, static_cast<std::size_t>(size));
    BIO_free(out);
    EVP_PKEY_free(other);
    X509_REQ_free(parsed);

    const Result<std::string> signed_pem = sign_client_request(authority(), forged, "ctr_1", 1);

    ASSERT_FALSE(signed_pem);
    EXPECT_EQ(signed_pem.error().detail, "the request's signature is wrong");
}

TEST(ClientRequest, IsRefusedForWeakKeysOnly)
{
    const std::string weak = make_signing_request(rsa_key(1024), "x").value();
    const std::string strong = make_signing_request(rsa_key(2048), "x").value();

    EXPECT_EQ(sign_client_request(authority(), weak, "ctr_1", 1).error().code, Errc::kInvalid);
    EXPECT_TRUE(sign_client_request(authority(), strong, "ctr_1", 1));
}

TEST(SigningRequest, NeedsAPrivateKey)
{
    EXPECT_EQ(make_signing_request("nonsense", "x").error().code, Errc::kInvalid);
    EXPECT_EQ(make_signing_request(authority().certificate_pem, "x").error().code, Errc::kInvalid);
}

TEST(ReadCertificate, RefusesWhatIsNone)
{
    EXPECT_EQ(read_certificate("nonsense").error().code, Errc::kInvalid);
}

TEST(ReadAuthorities, TakesCertificatesThatMaySignOthersOnly)
{
    const Credential other = make_authority("Other", 1).value();
    const std::string both = authority().certificate_pem + other.certificate_pem;

    const std::vector<CertificateFacts> facts = read_authorities(both).value();

    ASSERT_EQ(facts.size(), 2U);
    EXPECT_EQ(facts[1].common_name, "Other");
    EXPECT_EQ(facts[1].sha256_hex, read_certificate(other.certificate_pem).value().sha256_hex);
    EXPECT_EQ(facts[1].sha256_hex.size(), 64U);
    EXPECT_NE(facts[0].sha256_hex, facts[1].sha256_hex);
    const std::string leaf = client_credential(other, "ctr_1").certificate_pem;
    for (const std::string& bad : {std::string(), std::string("notes"), both.substr(0, both.size() - 80), both + leaf})
        EXPECT_EQ(read_authorities(bad).error().code, Errc::kInvalid);
}

TEST(FindSigner, TellsAuthoritiesOfOneNameApart)
{
    const Credential one = make_authority("Same", 1).value();
    const Credential two = make_authority("Same", 1).value();
    const std::string leaf = client_credential(two, "ctr_1").certificate_pem;

    const CertificateFacts signer = find_signer(leaf, one.certificate_pem + two.certificate_pem).value();

    EXPECT_EQ(signer.sha256_hex, read_certificate(two.certificate_pem).value().sha256_hex);
    EXPECT_EQ(find_signer(leaf, one.certificate_pem).error().code, Errc::kNotFound);
    EXPECT_EQ(find_signer("notes", one.certificate_pem).error().code, Errc::kInvalid);
}

TEST(TlsContext, RefusesAKeyThatDoesNotFit)
{
    const Credential mixed{authority().certificate_pem, make_private_key().value()};

    EXPECT_FALSE(make_server_context(mixed, ClientCertificates::kNone, ""));
    EXPECT_FALSE(make_server_context({"x", "y"}, ClientCertificates::kNone, ""));
    EXPECT_FALSE(make_server_context(authority(), ClientCertificates::kOptional, "x"));
    EXPECT_FALSE(make_client_context("x", nullptr));
    EXPECT_TRUE(make_client_context("", nullptr));
}

// --- mutual TLS, through a real server ---

Router whoami_router()
{
    Router router;
    router.add(Method::kGet, "/whoami", answer_with([](Request& request) {
                   return json_response(200, request.peer_certificate ? request.peer_certificate->common_name + " " +
                                                                            request.peer_certificate->serial_hex
                                                                      : "nobody");
               }));
    return router;
}

Result<ClientResponse> ask_who(const TestServer& server, const Credential* credential)
{
    HttpClient client(server.endpoint(), client_tls(credential));
    return client.request(Method::kGet, "/whoami", {}, "");
}

TEST(MutualTls, ShowsTheVerifiedCertificateToHandlers)
{
    const TestServer server(whoami_router(), {}, ClientCertificates::kOptional);
    const Credential good = client_credential(authority(), "ctr_1");

    const Result<ClientResponse> response = ask_who(server, &good);

    ASSERT_TRUE(response) << describe(response.error());
    EXPECT_EQ(response->body, "ctr_1 " + read_certificate(good.certificate_pem).value().serial_hex);
}

TEST(MutualTls, LetsClientsWithoutACertificateIn)
{
    const TestServer server(whoami_router(), {}, ClientCertificates::kOptional);

    EXPECT_EQ(ask_who(server, nullptr).value().body, "nobody");
}

TEST(MutualTls, FailsTheHandshakeForForeignExpiredAndServerCertificates)
{
    const TestServer server(whoami_router(), {}, ClientCertificates::kOptional);
    const Credential foreign = client_credential(make_authority("Test authority", 1).value(), "ctr_1");
    const Credential wrong_use = make_server_credential(authority(), {"localhost"}, 1).value();
    const std::string key = make_private_key().value();
    const Credential expired{
        sign_client_request(authority(), make_signing_request(key, "x").value(), "ctr_1", -1).value(), key};

    for (const Credential* bad : {&foreign, &wrong_use, &expired}) {
        const Result<ClientResponse> response = ask_who(server, bad);
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, Errc::kUnavailable);
    }
}

TEST(MutualTls, OverlapsWhereOneAuthorityReplacesAnother)
{
    // Equal names: which of them signed is told by their keys.
    const Credential old_one = make_authority("Test authority", 2).value();
    const Credential new_one = make_authority("Test authority", 2).value();
    const std::string both = new_one.certificate_pem + old_one.certificate_pem;
    const Credential of_old = client_credential(old_one, "ctr_old");
    const Credential of_new = client_credential(new_one, "ctr_new");
    TestServer server(whoami_router(), {}, ClientCertificates::kOptional);
    const auto show = [&](const Credential& signer, const std::string& trusted) {
        const Credential shown = make_server_credential(signer, {"localhost"}, 1).value();
        server.set_tls(make_server_context(shown, ClientCertificates::kOptional, trusted).value());
    };
    const auto is_let_in = [&](const Credential& client, const std::string& trusted) {
        HttpClient http(server.endpoint(), make_client_context(trusted, &client).value());
        return http.request(Method::kGet, "/whoami", {}, "").has_value();
    };

    show(old_one, both); // begun
    EXPECT_TRUE(is_let_in(of_old, both));
    EXPECT_TRUE(is_let_in(of_old, old_one.certificate_pem));
    show(new_one, both); // switched
    EXPECT_TRUE(is_let_in(of_old, both));
    EXPECT_TRUE(is_let_in(of_new, both));
    EXPECT_FALSE(is_let_in(of_old, old_one.certificate_pem)) << "it was not told of the new one";
    show(new_one, new_one.certificate_pem); // finished
    EXPECT_TRUE(is_let_in(of_new, new_one.certificate_pem));
    EXPECT_FALSE(is_let_in(of_old, both)) << "its certificate is of the past authority";
}

TEST(MutualTls, IgnoresCertificatesOnListenersThatDoNotAsk)
{
    const TestServer server(whoami_router());
    const Credential good = client_credential(authority(), "ctr_1");

    EXPECT_EQ(ask_who(server, &good).value().body, "nobody");
}

TEST(Server, ShowsANewCertificateToNewConnectionsAndKeepsThoseThatLive)
{
    TestServer server(whoami_router());
    HttpClient old_client = server.client();
    ASSERT_EQ(old_client.request(Method::kGet, "/whoami", {}, "").value().status, 200);
    const Credential other = make_authority("Another authority", 1).value();
    const Credential replacement = make_server_credential(other, {"localhost"}, 1).value();

    server.set_tls(make_server_context(replacement, ClientCertificates::kNone, "").value());

    // Over the connection that it has: it would not trust the new certificate.
    EXPECT_EQ(old_client.request(Method::kGet, "/whoami", {}, "").value().status, 200);
    EXPECT_FALSE(server.client().request(Method::kGet, "/whoami", {}, ""));
    HttpClient new_client(server.endpoint(), make_client_context(other.certificate_pem, nullptr).value());
    EXPECT_EQ(new_client.request(Method::kGet, "/whoami", {}, "").value().status, 200);
}

std::string why_not_shown(const std::string& certificate_pem, const std::string& key_pem)
{
    const Result<void> checked = check_server_certificate({certificate_pem, key_pem});
    return checked ? "" : checked.error().detail;
}

TEST(ServerCertificate, IsCheckedWithKeyAndChain)
{
    const Credential good = make_server_credential(authority(), {"localhost"}, 1).value();
    const std::string& issuer = authority().certificate_pem;
    const std::string other_key = make_private_key().value();
    const Credential client = client_credential(authority(), "ctr_1");

    EXPECT_EQ(why_not_shown(good.certificate_pem, good.key_pem), "");
    EXPECT_EQ(why_not_shown(good.certificate_pem + issuer, good.key_pem), "");
    EXPECT_EQ(why_not_shown("", good.key_pem), "the certificate is not PEM");
    EXPECT_EQ(why_not_shown(good.certificate_pem, "x"), "the private key is not an unencrypted PEM key");
    EXPECT_EQ(why_not_shown(good.certificate_pem, other_key), "the private key does not belong to the certificate");
    EXPECT_EQ(why_not_shown(client.certificate_pem, client.key_pem), "the certificate is not for servers");
    // As while somebody is writing the file.
    EXPECT_EQ(why_not_shown(good.certificate_pem + issuer.substr(0, issuer.size() / 2), good.key_pem),
              "a certificate of the chain is cut off or damaged");
}

} // namespace
} // namespace fathom::net::test
