#include "core/transfer/signed_url.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

// The example of "Authenticating Requests: Using Query Parameters" in Amazon's reference of S3.
TEST(SignedUrls, AreThoseOfTheReference)
{
    const ObjectStoreAccess access{.endpoint = "https://examplebucket.s3.amazonaws.com",
                                   .region = "us-east-1",
                                   .access_key = "AKIAIOSFODNN7EXAMPLE",
                                   .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                   .ca_file = {}};
    const Timestamp at{std::chrono::seconds(1'369'353'600)}; // 2013-05-24

    const std::string url =
        signed_url(access, {.method = "GET", .path = "/test.txt", .at = at, .lasts = std::chrono::seconds(86'400)});

    EXPECT_EQ(url, "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
                   "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
                   "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                   "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(SignedUrls, AreForOneMethodAndOnePath)
{
    const ObjectStoreAccess access{
        .endpoint = "https://s3.example", .region = "r", .access_key = "key", .secret_key = "secret", .ca_file = {}};
    const SignedRequest request{
        .method = "GET", .path = "/bucket/a b%.txt", .at = Timestamp{}, .lasts = std::chrono::seconds(60)};
    SignedRequest other = request;
    other.method = "PUT";

    const std::string url = signed_url(access, request);

    EXPECT_THAT(url, testing::StartsWith("https://s3.example/bucket/a%20b%25.txt?"));
    EXPECT_THAT(url, testing::Not(HasSubstr("secret")));
    EXPECT_NE(url.substr(url.find("Signature=")), signed_url(access, other).substr(url.find("Signature=")));
}

} // namespace
} // namespace fathom
