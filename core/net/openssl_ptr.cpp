#include "core/net/openssl_ptr.hpp"

#include "core/base/hex.hpp"

#include <array>
#include <ctime>

namespace fathom::net::openssl {
namespace {

Bio read_bio(const std::string& text)
{
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without it OpenSSL would ask for a password on the terminal.
int refuse_password(char*, int, int, void*)
{
    return -1;
}

Timestamp to_timestamp(const ASN1_TIME* time)
{
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
    return Timestamp(std::chrono::seconds(timegm(&parts)));
}

std::string serial_hex_of(const X509& certificate)
{
    const ASN1_INTEGER* serial = X509_get0_serialNumber(&certificate);
    std::string text;
    for (int i = 0; i < ASN1_STRING_length(serial); ++i)
        append_hex(text, ASN1_STRING_get0_data(serial)[i]);
    return text;
}

std::string sha256_hex_of(const X509& certificate)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    std::string text;
    if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return text;
    for (unsigned i = 0; i < size; ++i)
        append_hex(text, digest[i]);
    return text;
}

} // namespace

std::string take_error()
{
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (code == 0) return "unknown error";
    const char* reason = ERR_reason_error_string(code);
    return reason != nullptr ? reason : "error " + std::to_string(code);
}

Error failure(const std::string& operation)
{
    return Error{Errc::kInternal, operation + ": " + take_error()};
}

Certificate parse_certificate(const std::string& pem)
{
    const Bio bio = read_bio(pem);
    Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, refuse_password, nullptr));
    ERR_clear_error();
    return certificate;
}

Key parse_key(const std::string& pem)
{
    const Bio bio = read_bio(pem);
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_password, nullptr));
    ERR_clear_error();
    return key;
}

std::string common_name_of(const X509& certificate)
{
    const X509_NAME* name = X509_get_subject_name(&certificate);
    const int index = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (index < 0) return {};
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
    if (size < 0) return {};
    std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
    return text;
}

CertificateFacts facts_of(const X509& certificate)
{
    return {.common_name = common_name_of(certificate),
            .serial_hex = serial_hex_of(certificate),
            .not_before = to_timestamp(X509_get0_notBefore(&certificate)),
            .not_after = to_timestamp(X509_get0_notAfter(&certificate)),
            .sha256_hex = sha256_hex_of(certificate)};
}

Certificates parse_certificates(const std::string& pem)
{
    const Bio bio = read_bio(pem);
    Certificates found;
    ERR_clear_error();
    while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, refuse_password, nullptr))
        found.certificates.emplace_back(next);
    const unsigned long last = ERR_peek_last_error();
    found.is_whole = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return found;
}

} // namespace fathom::net::openssl
