#include "core/net/tls.hpp"

#include "core/base/secret.hpp"
#include "core/net/openssl_ptr.hpp"

#include <boost/asio/ip/address.hpp>
#include <openssl/core_names.h>
#include <openssl/ec.h>

#include <array>
#include <cstdint>
#include <ctime>

namespace fathom::net {
namespace {

using namespace openssl; // NOLINT(google-build-using-namespace): our own, internal

template <class Write>
std::string to_pem(Write write)
{
    const Bio bio(BIO_new(BIO_s_mem()));
    if (!bio || write(bio.get()) != 1) return {};
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

std::string key_to_pem(EVP_PKEY* key)
{
    return to_pem([&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string certificate_to_pem(X509* certificate)
{
    return to_pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

Key new_key()
{
    return Key(EVP_EC_gen("P-256"));
}

/// A subject that holds only a common name; null when it is not one (1..64 characters of UTF-8).
Name make_name(const std::string& common_name)
{
    if (common_name.empty() || common_name.size() > 256) return nullptr;
    for (const char c : common_name) {
        if (static_cast<unsigned char>(c) < 0x20) return nullptr;
    }
    Name name(X509_NAME_new());
    const auto* text = reinterpret_cast<const unsigned char*>(common_name.data());
    if (X509_NAME_add_entry_by_NID(name.get(), NID_commonName, MBSTRING_UTF8, text,
                                   static_cast<int>(common_name.size()), -1, 0) != 1) {
        ERR_clear_error();
        return nullptr;
    }
    return name;
}

Error bad_common_name()
{
    return Error{Errc::kInvalid, "the common name must have 1 to 64 characters"};
}

bool add_extension(X509* certificate, X509* issuer, int nid, const char* value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Owner<X509_EXTENSION, X509_EXTENSION_free> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

/// Built from parts, not from OpenSSL's text syntax: a comma in a name must not add another name.
bool add_alternative_names(X509* certificate, const std::vector<std::string>& names)
{
    const Owner<GENERAL_NAMES, GENERAL_NAMES_free> list(GENERAL_NAMES_new());
    for (const std::string& name : names) {
        boost::system::error_code ec;
        const auto address = boost::asio::ip::make_address(name, ec);
        Owner<GENERAL_NAME, GENERAL_NAME_free> entry(GENERAL_NAME_new());
        Owner<ASN1_STRING, ASN1_STRING_free> value;
        if (ec) {
            value.reset(ASN1_IA5STRING_new());
            ASN1_STRING_set(value.get(), name.data(), static_cast<int>(name.size()));
        } else {
            value.reset(ASN1_OCTET_STRING_new());
            const auto set = [&](const auto& bytes) {
                ASN1_STRING_set(value.get(), bytes.data(), static_cast<int>(bytes.size()));
            };
            if (address.is_v4()) set(address.to_v4().to_bytes());
            if (address.is_v6()) set(address.to_v6().to_bytes());
        }
        GENERAL_NAME_set0_value(entry.get(), ec ? GEN_DNS : GEN_IPADD, value.release());
        if (sk_GENERAL_NAME_push(list.get(), entry.get()) <= 0) return false;
        entry.release(); // NOLINT(bugprone-unused-return-value): the list owns it now
    }
    return X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, X509V3_ADD_DEFAULT) == 1;
}

bool is_host_name(const std::string& name)
{
    if (name.empty() || name.size() > 253) return false;
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.*:") ==
           std::string::npos;
}

bool set_random_serial(X509* certificate)
{
    std::array<std::uint8_t, 16> bytes{};
    fill_random(bytes);
    bytes[0] = static_cast<std::uint8_t>((bytes[0] & 0x3FU) | 0x40U); // positive, and always 16 bytes long
    const Owner<BIGNUM, BN_free> number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
    return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

/// What all our certificates share: version 3, random serial, valid from five minutes ago.
Certificate start_certificate(const X509_NAME* subject, const X509_NAME* issuer, EVP_PKEY* key, int valid_days)
{
    constexpr long kClockSkewSeconds = 300;
    Certificate certificate(X509_new());
    std::time_t now = std::time(nullptr); // of both ends, which shall lie as far apart as told
    const bool good =
        X509_set_version(certificate.get(), X509_VERSION_3) == 1 && set_random_serial(certificate.get()) &&
        X509_time_adj_ex(X509_getm_notBefore(certificate.get()), 0, -kClockSkewSeconds, &now) != nullptr &&
        X509_time_adj_ex(X509_getm_notAfter(certificate.get()), valid_days, 0, &now) != nullptr &&
        X509_set_subject_name(certificate.get(), subject) == 1 &&
        X509_set_issuer_name(certificate.get(), issuer) == 1 && X509_set_pubkey(certificate.get(), key) == 1;
    return good ? std::move(certificate) : nullptr;
}

struct Authority {
    Certificate certificate;
    Key key;
};

Result<Authority> load_authority(const Credential& credential)
{
    Authority authority{parse_certificate(credential.certificate_pem), parse_key(credential.key_pem)};
    if (!authority.certificate) return Error{Errc::kInvalid, "the authority's certificate is not PEM"};
    if (!authority.key) return Error{Errc::kInvalid, "the authority's key is not an unencrypted PEM key"};
    if (X509_check_private_key(authority.certificate.get(), authority.key.get()) != 1) {
        ERR_clear_error();
        return Error{Errc::kInvalid, "the authority's key does not belong to its certificate"};
    }
    return authority;
}

/// Ends a leaf: usages, key identifiers and the authority's signature.
Result<std::string> finish_leaf(X509* leaf, const Authority& authority, const char* extended_usage)
{
    X509* issuer = authority.certificate.get();
    const bool good = add_extension(leaf, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                      add_extension(leaf, issuer, NID_key_usage, "critical,digitalSignature") &&
                      add_extension(leaf, issuer, NID_ext_key_usage, extended_usage) &&
                      add_extension(leaf, issuer, NID_subject_key_identifier, "hash") &&
                      add_extension(leaf, issuer, NID_authority_key_identifier, "keyid:always") &&
                      X509_sign(leaf, authority.key.get(), EVP_sha256()) > 0;
    if (!good) return failure("sign a certificate");
    return certificate_to_pem(leaf);
}

bool is_accepted_key(const EVP_PKEY* key)
{
    if (EVP_PKEY_is_a(key, "RSA") == 1) return EVP_PKEY_get_bits(key) >= 2048;
    if (EVP_PKEY_is_a(key, "EC") != 1) return false;
    std::array<char, 64> group{};
    if (EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) != 1) return false;
    const int nid = OBJ_sn2nid(group.data());
    return nid == NID_X9_62_prime256v1 || nid == NID_secp384r1;
}

} // namespace

Result<Credential> make_authority(const std::string& common_name, int valid_days)
{
    const Name name = make_name(common_name);
    if (!name) return bad_common_name();
    const Key key = new_key();
    if (!key) return failure("make a key");
    const Certificate certificate = start_certificate(name.get(), name.get(), key.get(), valid_days);
    if (!certificate) return failure("make a certificate");

    X509* self = certificate.get();
    const bool good = add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                      add_extension(self, self, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                      add_extension(self, self, NID_subject_key_identifier, "hash") &&
                      X509_sign(self, key.get(), EVP_sha256()) > 0;
    if (!good) return failure("sign a certificate");
    return Credential{certificate_to_pem(self), key_to_pem(key.get())};
}

Result<Credential> make_server_credential(const Credential& authority_credential, const std::vector<std::string>& names,
                                          int valid_days)
{
    if (names.empty()) return Error{Errc::kInvalid, "a server certificate needs at least one name"};
    for (const std::string& name : names) {
        if (!is_host_name(name)) return Error{Errc::kInvalid, "not a host name or IP address: " + name};
    }
    const Result<Authority> authority = load_authority(authority_credential);
    if (!authority) return authority.error();
    // Long host names do not fit the common name; clients look at the alternative names anyway.
    const Name subject = make_name(names.front().substr(0, 64));
    const Key key = new_key();
    if (!subject || !key) return failure("make a key");
    const Certificate leaf =
        start_certificate(subject.get(), X509_get_subject_name(authority->certificate.get()), key.get(), valid_days);
    if (!leaf || !add_alternative_names(leaf.get(), names)) return failure("make a certificate");
    const Result<std::string> pem = finish_leaf(leaf.get(), *authority, "serverAuth");
    if (!pem) return pem.error();
    return Credential{*pem, key_to_pem(key.get())};
}

Result<std::string> make_private_key()
{
    const Key key = new_key();
    if (!key) return failure("make a key");
    return key_to_pem(key.get());
}

Result<std::string> make_signing_request(const std::string& key_pem, const std::string& common_name)
{
    const Key key = parse_key(key_pem);
    if (!key) return Error{Errc::kInvalid, "not an unencrypted PEM private key"};
    const Name name = make_name(common_name);
    if (!name) return bad_common_name();
    const CertificateRequest request(X509_REQ_new());
    const bool good = X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
                      X509_REQ_set_subject_name(request.get(), name.get()) == 1 &&
                      X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
                      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0;
    if (!good) return failure("make a signing request");
    return to_pem([&](BIO* bio) { return PEM_write_bio_X509_REQ(bio, request.get()); });
}

Result<std::string> sign_client_request(const Credential& authority_credential, const std::string& request_pem,
                                        const std::string& common_name, int valid_days)
{
    constexpr std::size_t kLargestRequest = 16UL << 10U;
    const Name subject = make_name(common_name);
    if (!subject) return bad_common_name();
    const Result<Authority> authority = load_authority(authority_credential);
    if (!authority) return authority.error();

    if (request_pem.size() > kLargestRequest) return Error{Errc::kInvalid, "the signing request is too large"};
    const Bio bio(BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size())));
    const CertificateRequest request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
    ERR_clear_error();
    if (!request) return Error{Errc::kInvalid, "not a PKCS#10 certificate signing request in PEM"};
    EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
    if (key == nullptr || !is_accepted_key(key)) {
        ERR_clear_error();
        return Error{Errc::kInvalid, "the request's key must be EC P-256, EC P-384 or RSA of at least 2048 bits"};
    }
    const int verified = X509_REQ_verify(request.get(), key);
    ERR_clear_error();
    if (verified != 1) return Error{Errc::kInvalid, "the request's signature is wrong"};

    const Certificate leaf =
        start_certificate(subject.get(), X509_get_subject_name(authority->certificate.get()), key, valid_days);
    if (!leaf) return failure("make a certificate");
    return finish_leaf(leaf.get(), *authority, "clientAuth");
}

Result<CertificateFacts> read_certificate(const std::string& certificate_pem)
{
    const Certificate certificate = parse_certificate(certificate_pem);
    if (!certificate) return Error{Errc::kInvalid, "not a PEM certificate"};
    return facts_of(*certificate);
}

Result<std::vector<CertificateFacts>> read_authorities(const std::string& authorities_pem)
{
    const Certificates found = parse_certificates(authorities_pem);
    if (found.certificates.empty()) return Error{Errc::kInvalid, "there is no authority's certificate in PEM"};
    if (!found.is_whole) return Error{Errc::kInvalid, "an authority's certificate is cut off or damaged"};
    std::vector<CertificateFacts> facts;
    for (const Certificate& certificate : found.certificates) {
        if (X509_check_ca(certificate.get()) == 0)
            return Error{Errc::kInvalid, "the certificate of " + common_name_of(*certificate) + " is no authority's"};
        facts.push_back(facts_of(*certificate));
    }
    return facts;
}

Result<CertificateFacts> find_signer(const std::string& certificate_pem, const std::string& authorities_pem)
{
    const Certificate certificate = parse_certificate(certificate_pem);
    if (!certificate) return Error{Errc::kInvalid, "not a PEM certificate"};
    for (const Certificate& authority : parse_certificates(authorities_pem).certificates) {
        const bool is_signed = X509_check_issued(authority.get(), certificate.get()) == X509_V_OK &&
                               X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
        ERR_clear_error();
        if (is_signed) return facts_of(*authority);
    }
    return Error{Errc::kNotFound, "the certificate is not signed by the network's authority"};
}

Result<void> check_client_certificate(const Credential& credential, const std::string& authorities_pem,
                                      const std::string& common_name)
{
    const Certificate certificate = parse_certificate(credential.certificate_pem);
    if (!certificate) return Error{Errc::kInvalid, "not a PEM certificate"};
    if (!parse_certificate(authorities_pem)) return Error{Errc::kInvalid, "the authority is not a PEM certificate"};
    const Key key = parse_key(credential.key_pem);
    if (!key) return Error{Errc::kInvalid, "not a PEM private key"};
    const bool is_of_key = X509_check_private_key(certificate.get(), key.get()) == 1;
    const bool is_for_clients = X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0) == 1;
    ERR_clear_error();
    if (!is_of_key) return Error{Errc::kInvalid, "the certificate is of another key"};
    if (const Result<CertificateFacts> signer = find_signer(credential.certificate_pem, authorities_pem); !signer)
        return Error{Errc::kInvalid, signer.error().detail};
    if (!is_for_clients) return Error{Errc::kInvalid, "the certificate is not for clients"};
    const std::string named = common_name_of(*certificate);
    if (named != common_name) return Error{Errc::kInvalid, "the certificate names " + named + ", not " + common_name};
    return {};
}

} // namespace fathom::net
