#include "core/base/secret.hpp"
#include "core/model/operator_package.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

Json manifest_json()
{
    return {{"id", "my_stencil"},
            {"category", "hpc"},
            {"description", "A stencil."},
            {"parameters", {{{"name", "n"}, {"min", 1}, {"max", 100}, {"default", 10}}}},
            {"operation_count", "2*n"},
            {"byte_count", "16*n"},
            {"truth", "Known in closed form."},
            {"tolerance", 1e-12},
            {"precision", "fp64"},
            {"implementations", {{{"resource_type", "cpu"}, {"library", "uploaded"}}}}};
}

OperatorManifest manifest()
{
    return parse_operator_manifest(manifest_json()).value();
}

/// The first 64 bytes of an ELF64 shared object for x86_64, and a little more.
std::string shared_object()
{
    std::string object = "\177ELF";
    object += {2, 1, 1};
    object.resize(16, '\0');
    object += {3, 0, 62, 0};
    object.resize(100, '\0');
    return object;
}

KeyPair key_pair()
{
    return new_key_pair().value();
}

OperatorPackage signed_package(const KeyPair& keys)
{
    return sign_operator(manifest(), shared_object(), keys.private_pem).value();
}

TEST(OperatorPackage, SurvivesJsonAndVerifies)
{
    const KeyPair keys = key_pair();
    const std::vector<PublicKey> trusted = parse_public_keys(key_pair().public_pem + keys.public_pem).value();

    const Result<OperatorPackage> read = parse_operator_package_text(to_json(signed_package(keys)).dump());

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->object, shared_object());
    EXPECT_EQ(to_json(read->manifest), to_json(manifest()));
    EXPECT_EQ(read->key_id, key_id(trusted[1]));
    const Result<void> verified = verify_operator_package(*read, trusted);
    EXPECT_TRUE(verified) << verified.error().detail;
}

TEST(OperatorPackage, IsRefusedWhenItsKeyIsNotTrustedAndNamesTheKeys)
{
    const KeyPair signer = key_pair();
    const std::vector<PublicKey> trusted = parse_public_keys(key_pair().public_pem).value();
    const OperatorPackage package = signed_package(signer);

    const Result<void> verified = verify_operator_package(package, trusted);

    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, Errc::kForbidden);
    EXPECT_THAT(verified.error().detail, HasSubstr("signed by key " + package.key_id));
    EXPECT_THAT(verified.error().detail, HasSubstr("trusted keys " + key_id(trusted[0])));
    EXPECT_THAT(verify_operator_package(package, {}).error().detail, HasSubstr("no key is trusted"));
}

TEST(OperatorPackage, IsRefusedWhenManifestOrObjectOrKeyWereChangedAfterSigning)
{
    const KeyPair keys = key_pair();
    const std::vector<PublicKey> trusted = parse_public_keys(keys.public_pem + key_pair().public_pem).value();
    OperatorPackage other_object = signed_package(keys);
    other_object.object.back() = 'x';
    OperatorPackage other_version = signed_package(keys);
    other_version.manifest.version = 2;
    OperatorPackage other_limits = signed_package(keys);
    other_limits.manifest.sandbox.network = true;
    OperatorPackage other_signer = signed_package(keys);
    other_signer.key_id = key_id(trusted[1]);

    for (const OperatorPackage* package : {&other_object, &other_version, &other_limits, &other_signer}) {
        const Result<void> verified = verify_operator_package(*package, trusted);
        ASSERT_FALSE(verified);
        EXPECT_EQ(verified.error().code, Errc::kForbidden);
        EXPECT_THAT(verified.error().detail, HasSubstr("does not carry a valid signature"));
    }
}

TEST(OperatorPackage, SaysEveryFieldThatIsWrong)
{
    Json builtin = manifest_json();
    builtin["implementations"][0]["library"] = "own";
    const Json json = {{"manifest", builtin},
                       {"object_base64", base64_encode("#!/bin/sh\n" + std::string(100, ' '))},
                       {"signature_base64", base64_encode("short")},
                       {"key_id", "not-16-hex-digit"},
                       {"extra", 1}};

    const Result<OperatorPackage> read = parse_operator_package(json);

    ASSERT_FALSE(read);
    const std::string text = describe(read.error());
    EXPECT_THAT(text, HasSubstr("no implementation with the library \"uploaded\""));
    EXPECT_THAT(text, HasSubstr("not an ELF file"));
    EXPECT_THAT(text, HasSubstr("must hold 64 bytes"));
    EXPECT_THAT(text, HasSubstr("16 lower-case hex digits"));
    EXPECT_THAT(text, HasSubstr("extra"));
    EXPECT_EQ(parse_operator_package(Json::array()).error().code, Errc::kInvalid);
    EXPECT_THAT(describe(parse_operator_package(Json::object()).error()), HasSubstr("manifest"));
}

TEST(OperatorPackage, BadFieldsOfTheManifestAreNamedWithTheirPath)
{
    Json json = to_json(signed_package(key_pair()));
    json["manifest"]["tolerance"] = 7;

    EXPECT_THAT(describe(parse_operator_package(json).error()), HasSubstr("manifest.tolerance"));
}

TEST(MachineOfObject, TellsSharedObjectsFromOtherFiles)
{
    EXPECT_EQ(machine_of_object(shared_object()).value(), "x86_64");
    std::string program = shared_object();
    program[16] = 2;
    EXPECT_THAT(machine_of_object(program).error().detail, HasSubstr("not a shared object"));
    std::string narrow = shared_object();
    narrow[4] = 1;
    EXPECT_THAT(machine_of_object(narrow).error().detail, HasSubstr("64-bit"));
    EXPECT_EQ(machine_of_object(shared_object() + std::string(kMaxObjectBytes, 'x')).error().code, Errc::kTooLarge);
    EXPECT_EQ(machine_of_object("").error().code, Errc::kInvalid);
}

TEST(SignOperator, RefusesWhatCouldNotBeVerified)
{
    const KeyPair keys = key_pair();
    OperatorManifest builtin = manifest();
    builtin.implementations[0].library = "own";

    EXPECT_EQ(sign_operator(builtin, shared_object(), keys.private_pem).error().code, Errc::kInvalid);
    EXPECT_EQ(sign_operator(manifest(), "text", keys.private_pem).error().code, Errc::kInvalid);
    EXPECT_THAT(sign_operator(manifest(), shared_object(), keys.public_pem).error().detail, HasSubstr("private key"));
}

TEST(PublicKeys, OtherKindsAndBrokenBlocksAreNamed)
{
    const std::string good = key_pair().public_pem;
    std::string broken = good;
    broken.insert(broken.find("\n") + 3, "!!!!");
    const std::string elliptic = "-----BEGIN PUBLIC KEY-----\n"
                                 "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt\n"
                                 "6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n"
                                 "-----END PUBLIC KEY-----\n";

    EXPECT_EQ(parse_public_keys("# ours\n" + good + "\n" + good).value().size(), 1U);
    EXPECT_THAT(parse_public_keys(good + broken).error().detail, HasSubstr("public key 2 cannot be read"));
    EXPECT_THAT(parse_public_keys(elliptic).error().detail, HasSubstr("another kind than Ed25519"));
    EXPECT_THAT(parse_public_keys("").error().detail, HasSubstr("no public key"));
    EXPECT_THAT(parse_public_keys(key_pair().private_pem).error().detail, HasSubstr("no public key"));
}

TEST(Ed25519, AgreesWithTheTestVectorOfTheRfc)
{
    // RFC 8032, section 7.1, test 2: the message is one byte, 0x72.
    const PublicKey key{{0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a,
                         0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4,
                         0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c}};
    const std::string signature =
        base64_decode("kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA==").data;

    EXPECT_TRUE(verifies("\x72", signature, key));
    EXPECT_FALSE(verifies("\x73", signature, key));
    EXPECT_FALSE(verifies("\x72", signature.substr(0, 63), key));
}

} // namespace
} // namespace fathom
