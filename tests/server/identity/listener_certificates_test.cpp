#include "core/base/file.hpp"
#include "server/identity/listener_certificates.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using testing::HasSubstr;

/// The machine's time, and so many days.
class DaysAhead final : public Clock {
  public:
    Timestamp now() const override { return SystemClock().now() + std::chrono::days(days); }

    int days = 0;
};

class ListenerCertificatesTest : public testing::Test {
  protected:
    net::Credential signed_for(int valid_days) const
    {
        return net::make_server_credential(authority_, {"fathom.example.org"}, valid_days).value();
    }
    void write(const std::string& certificate_pem, const std::string& key_pem) const
    {
        write_file(folder_.path() / "certificate.pem", certificate_pem).value();
        write_file(folder_.path() / "key.pem", key_pem, 0600).value();
    }
    void write(const net::Credential& pair) const { write(pair.certificate_pem, pair.key_pem); }

    CertificateFiles files() const
    {
        const auto read = [folder = folder_.path()]() -> Result<net::Credential> {
            const Result<std::string> certificate = read_file(folder / "certificate.pem");
            if (!certificate) return certificate.error();
            const Result<std::string> key = read_file(folder / "key.pem");
            if (!key) return key.error();
            return net::Credential{*certificate, *key};
        };
        return {.names = "the operator's files", .read = read};
    }
    ListenerCertificates make(CertificateFiles files) { return {std::move(files), clock_, metrics_}; }
    /// With the files as they are, at work.
    ListenerCertificates started(CertificateFiles files)
    {
        ListenerCertificates certificates = make(std::move(files));
        certificates.read_files().value();
        certificates.make_own(only_authority(authority_).value(), {"localhost"}).value();
        certificates.show_on([this](const net::TlsContext&) { ++shown_to_rest_; },
                             [this](const net::TlsContext&) { ++shown_to_agents_; });
        return certificates;
    }
    double days_left(const std::string& certificate) const
    {
        const std::string text = metrics_.expose();
        const std::string name = "fathom_certificate_expires_seconds{certificate=\"" + certificate + "\"} ";
        const std::size_t at = text.find(name);
        return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size())) / 86400;
    }

    const test::TemporaryFolder folder_;
    const net::Credential authority_ = net::make_authority("network", 3650).value();
    DaysAhead clock_;
    Metrics metrics_;
    int shown_to_rest_ = 0;
    int shown_to_agents_ = 0;
};

TEST_F(ListenerCertificatesTest, BothListenersShowOneOfTheAuthorityWithoutFiles)
{
    ListenerCertificates certificates = started({});

    certificates.look();

    EXPECT_TRUE(certificates.rest() && certificates.agents());
    EXPECT_EQ(shown_to_rest_ + shown_to_agents_, 0) << "nothing has changed";
}

TEST_F(ListenerCertificatesTest, ItsOwnIsMadeAnewBeforeItExpires)
{
    ListenerCertificates certificates = started({});
    certificates.look();
    EXPECT_NEAR(days_left("agents"), 825, 1);
    EXPECT_NEAR(days_left("authority"), 3650, 1);

    clock_.days = 734;
    certificates.look();
    EXPECT_EQ(shown_to_agents_, 0);
    clock_.days = 736;
    certificates.look();

    EXPECT_EQ(shown_to_agents_, 1);
    EXPECT_EQ(shown_to_rest_, 1);
}

TEST_F(ListenerCertificatesTest, AnotherAuthorityIsShownAtOnceByBothListeners)
{
    ListenerCertificates certificates = started({});
    const net::TlsContext before = certificates.agents();
    NetworkAuthorities switched = only_authority(net::make_authority("network 2", 1000).value()).value();
    switched.certificates.past = only_authority(authority_).value().certificates.current;

    ASSERT_TRUE(certificates.change_authorities(switched));
    certificates.look();

    EXPECT_NE(certificates.agents(), before);
    EXPECT_EQ(shown_to_agents_, 1);
    EXPECT_EQ(shown_to_rest_, 1);
    EXPECT_NEAR(days_left("authority"), 1000, 1);
}

TEST_F(ListenerCertificatesTest, OneThatCannotSignLeavesTheAuthorityOfBefore)
{
    ListenerCertificates certificates = started({});
    const net::TlsContext before = certificates.agents();
    NetworkAuthorities broken = only_authority(authority_).value();
    broken.key_pem = net::make_private_key().value();

    EXPECT_FALSE(certificates.change_authorities(broken));

    EXPECT_EQ(certificates.agents(), before);
    EXPECT_EQ(shown_to_agents_, 0);
}

TEST_F(ListenerCertificatesTest, FilesAreForTheRestListenerAlone)
{
    write(signed_for(300));
    ListenerCertificates certificates = started(files());
    const net::TlsContext rest = certificates.rest();

    clock_.days = 736; // its own is made anew, and the files are not its own
    certificates.look();

    EXPECT_EQ(certificates.rest(), rest);
    EXPECT_EQ(shown_to_rest_, 0);
    EXPECT_EQ(shown_to_agents_, 1);
    EXPECT_NEAR(days_left("rest"), 300 - 736, 1);
}

TEST_F(ListenerCertificatesTest, ChangedFilesAreTaken)
{
    write(signed_for(300));
    ListenerCertificates certificates = started(files());

    certificates.look();
    EXPECT_EQ(shown_to_rest_, 0) << "nothing has changed";
    write(signed_for(200));
    certificates.look();
    certificates.look();

    EXPECT_EQ(shown_to_rest_, 1);
    EXPECT_NEAR(days_left("rest"), 200, 1);
}

TEST_F(ListenerCertificatesTest, ABadPairIsRefusedUntilItIsGood)
{
    write(signed_for(300));
    ListenerCertificates certificates = started(files());
    const net::TlsContext before = certificates.rest();
    const net::Credential next = signed_for(200);

    write(next.certificate_pem, signed_for(200).key_pem); // another's key
    certificates.look();
    write(next.certificate_pem.substr(0, 300), next.key_pem);
    certificates.look();
    std::filesystem::remove(folder_.path() / "key.pem");
    certificates.look();
    write(signed_for(-1)); // it has expired already
    certificates.look();
    EXPECT_EQ(certificates.rest(), before);
    EXPECT_EQ(shown_to_rest_, 0);
    write(next);
    certificates.look();

    EXPECT_EQ(shown_to_rest_, 1);
    EXPECT_NEAR(days_left("rest"), 200, 1);
}

TEST_F(ListenerCertificatesTest, AtTheStartABadPairIsAnErrorThatNamesTheFiles)
{
    ListenerCertificates certificates = make(files());
    const auto refusal = [&] { return certificates.read_files().error().detail; };

    EXPECT_THAT(refusal(), HasSubstr("certificate.pem: No such file"));
    write(signed_for(300).certificate_pem, signed_for(300).key_pem);
    EXPECT_EQ(refusal(), "the operator's files: the private key does not belong to the certificate");
    write(signed_for(300));
    EXPECT_TRUE(certificates.read_files());
}

TEST_F(ListenerCertificatesTest, AStartWithOneThatHasExpiredWorks)
{
    write(signed_for(-1));
    ListenerCertificates certificates = started(files());

    certificates.look();

    EXPECT_TRUE(certificates.rest());
    EXPECT_LT(days_left("rest"), 0);
}

} // namespace
} // namespace fathom::server
