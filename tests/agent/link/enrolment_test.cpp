#include "agent/link/enrolment.hpp"
#include "core/base/file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fathom::agent {
namespace {

/// An agent that was enrolled as ctr_1.
class RenewedCertificate : public testing::Test {
  protected:
    RenewedCertificate()
    {
        std::string name = testing::TempDir() + "fathom-enrolment-XXXXXX";
        folder_ = mkdtemp(name.data());
        Enrolment enrolment;
        enrolment.center_id = "ctr_1";
        enrolment.center_name = "alpha";
        enrolment.host = "localhost";
        enrolment.port = 8444;
        enrolment.authority_pem = authority_.certificate_pem;
        enrolment.credential = {certificate(authority_, key_, "ctr_1", 30), key_};
        old_ = enrolment.credential.certificate_pem;
        EXPECT_TRUE(EnrolmentFiles(folder_).store(enrolment));
    }
    ~RenewedCertificate() override { std::filesystem::remove_all(folder_); }

    static std::string certificate(const net::Credential& authority, const std::string& key, const std::string& name,
                                   int days)
    {
        return net::sign_client_request(authority, net::make_signing_request(key, name).value(), name, days).value();
    }
    std::string kept() const { return read_file(folder_ / "agent-cert.pem", 1U << 20U).value(); }
    /// What was said against it; the old one must still be there.
    std::string refused(const std::string& pem) const
    {
        const Result<void> stored = EnrolmentFiles(folder_).store_certificate(pem);
        EXPECT_EQ(kept(), old_);
        return stored ? "nothing" : stored.error().detail;
    }

    const net::Credential authority_ = net::make_authority("network", 365).value();
    const std::string key_ = net::make_private_key().value();
    std::filesystem::path folder_;
    std::string old_;
};

TEST_F(RenewedCertificate, OfTheSameKeyAuthorityAndCenterReplacesTheOld)
{
    const std::string renewed = certificate(authority_, key_, "ctr_1", 31);

    ASSERT_TRUE(EnrolmentFiles(folder_).store_certificate(renewed));

    EXPECT_EQ(kept(), renewed);
}

TEST_F(RenewedCertificate, ThatCouldNotBeUsedLeavesTheOld)
{
    const net::Credential other = net::make_authority("network", 365).value();

    EXPECT_EQ(refused(certificate(authority_, net::make_private_key().value(), "ctr_1", 31)),
              "the certificate is of another key");
    EXPECT_EQ(refused(certificate(other, key_, "ctr_1", 31)),
              "the certificate is not signed by the network's authority");
    EXPECT_EQ(refused(certificate(authority_, key_, "ctr_2", 31)), "the certificate names ctr_2, not ctr_1");
    EXPECT_EQ(refused(certificate(authority_, key_, "ctr_1", 29)),
              "the certificate ends sooner than the one it is to replace");
    EXPECT_EQ(refused("no certificate"), "not a PEM certificate");
}

class TrustedAuthorities : public RenewedCertificate {
  protected:
    std::string trusted() const { return read_file(folder_ / "ca.pem", 1U << 20U).value(); }

    const net::Credential next_ = net::make_authority("network", 365).value();
    const std::string both_ = authority_.certificate_pem + next_.certificate_pem;
};

TEST_F(TrustedAuthorities, ReplaceThoseOfBefore)
{
    ASSERT_TRUE(EnrolmentFiles(folder_).store_authorities(both_));

    EXPECT_EQ(trusted(), both_);
    EXPECT_EQ(EnrolmentFiles(folder_).trusted_authorities(),
              (std::vector{net::read_certificate(authority_.certificate_pem).value().sha256_hex,
                           net::read_certificate(next_.certificate_pem).value().sha256_hex}));
    EXPECT_EQ(EnrolmentFiles(folder_).load().value().authority_pem, both_);
}

TEST_F(TrustedAuthorities, LetACertificateOfEachOfThemIn)
{
    const std::string renewed = certificate(next_, key_, "ctr_1", 31);
    EXPECT_FALSE(EnrolmentFiles(folder_).store_certificate(renewed)) << "it is not trusted yet";

    ASSERT_TRUE(EnrolmentFiles(folder_).store_authorities(both_));

    ASSERT_TRUE(EnrolmentFiles(folder_).store_certificate(renewed));
    EXPECT_EQ(kept(), renewed);
}

TEST_F(TrustedAuthorities, ThatAreNoneOrAllUnknownLeaveTheOld)
{
    for (const std::string& bad : {std::string("notes"), both_.substr(0, both_.size() - 80), next_.certificate_pem,
                                   both_ + certificate(authority_, key_, "ctr_1", 30)})
        EXPECT_EQ(EnrolmentFiles(folder_).store_authorities(bad).error().code, Errc::kInvalid);

    EXPECT_EQ(trusted(), authority_.certificate_pem);
}

} // namespace
} // namespace fathom::agent
