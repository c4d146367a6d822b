#include "core/model/operator_package.hpp"

#include "core/base/ed25519.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/base/secret.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::string_view kFormatLine = "fathom operator 1\n";
constexpr std::size_t kSignatureBytes = 64;

// Offsets and values of the ELF header (System V ABI, chapter 4).
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kClassAt = 4;
constexpr std::size_t kByteOrderAt = 5;
constexpr std::size_t kTypeAt = 16;
constexpr std::size_t kMachineAt = 18;
constexpr unsigned kClass64 = 2;
constexpr unsigned kLittleEndian = 1;
constexpr unsigned kSharedObject = 3;
constexpr unsigned kX86_64 = 62;
constexpr unsigned kAarch64 = 183;
constexpr unsigned kRiscv = 243;

unsigned byte_at(std::string_view object, std::size_t offset)
{
    return static_cast<unsigned char>(object[offset]);
}

unsigned half_at(std::string_view object, std::size_t offset)
{
    return byte_at(object, offset) | byte_at(object, offset + 1) << 8U;
}

std::string machine_name(unsigned machine)
{
    if (machine == kX86_64) return "x86_64";
    if (machine == kAarch64) return "aarch64";
    if (machine == kRiscv) return "riscv64";
    return "ELF machine " + std::to_string(machine);
}

std::string quoted_ids(std::span<const PublicKey> keys)
{
    constexpr std::size_t kMaxNamed = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(keys.size(), kMaxNamed); ++i)
        text += (i == 0 ? "" : ", ") + key_id(keys[i]);
    if (keys.size() > kMaxNamed) text += " and " + std::to_string(keys.size() - kMaxNamed) + " more";
    return text;
}

std::string not_uploaded(const OperatorManifest& manifest)
{
    return "operator " + manifest.id +
           " has no implementation with the library \"uploaded\": its code would not come from this package";
}

bool is_key_id(std::string_view text)
{
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Decodes a field; empty after an error.
std::string base64_field(ObjectReader& reader, std::string_view name, std::size_t most_bytes)
{
    const std::string text = reader.required_string(name, {.min_length = 1, .max_length = (most_bytes + 2) / 3 * 4});
    if (text.empty()) return {};
    Base64Decoded decoded = base64_decode(text);
    if (!decoded.ok) reader.fail(name, "is not base64");
    return std::move(decoded.data);
}

} // namespace

bool is_operator_package_name(std::string_view file_name)
{
    return file_name.starts_with("operator-") && file_name.ends_with(".json");
}

Result<std::string> machine_of_object(std::string_view object)
{
    if (object.size() > kMaxObjectBytes)
        return Error{Errc::kTooLarge, "the shared object has " + std::to_string(object.size()) + " bytes, at most " +
                                          std::to_string(kMaxObjectBytes) +
                                          " can travel; strip it and link big libraries dynamically"};
    if (object.size() < kHeaderBytes || !object.starts_with("\177ELF"))
        return Error{Errc::kInvalid, "the object is not an ELF file; build it with cc -shared -fPIC"};
    if (byte_at(object, kClassAt) != kClass64 || byte_at(object, kByteOrderAt) != kLittleEndian)
        return Error{Errc::kInvalid, "the object is not a 64-bit little-endian ELF file"};
    if (half_at(object, kTypeAt) != kSharedObject)
        return Error{Errc::kInvalid, "the object is an ELF file but not a shared object (ELF type " +
                                         std::to_string(half_at(object, kTypeAt)) +
                                         ", not 3); build it with cc -shared -fPIC"};
    return machine_name(half_at(object, kMachineAt));
}

namespace {

OperatorManifest read_manifest(const Json& json, ObjectReader& reader, std::vector<FieldError>& errors)
{
    Result<OperatorManifest> parsed = parse_operator_manifest(json);
    if (parsed) {
        if (!parsed->is_uploaded()) reader.fail("manifest", not_uploaded(*parsed));
        return std::move(*parsed);
    }
    const Error error = parsed.error();
    for (const FieldError& field : error.fields)
        errors.push_back({field.field.empty() ? "manifest" : "manifest." + field.field, field.detail});
    return {};
}

} // namespace

Result<OperatorPackage> parse_operator_package(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    OperatorPackage package;
    if (const Json* manifest = reader.object("manifest")) {
        package.manifest = read_manifest(*manifest, reader, errors);
    } else if (!reader.has("manifest")) {
        reader.fail("manifest", "is required");
    }
    package.object = base64_field(reader, "object_base64", kMaxObjectBytes);
    if (!package.object.empty()) {
        if (const Result<std::string> machine = machine_of_object(package.object); !machine)
            reader.fail("object_base64", machine.error().detail);
    }
    package.signature = base64_field(reader, "signature_base64", kSignatureBytes);
    if (!package.signature.empty() && package.signature.size() != kSignatureBytes)
        reader.fail("signature_base64", "must hold 64 bytes");
    package.key_id = reader.required_string("key_id", {.min_length = 16, .max_length = 16});
    if (package.key_id.size() == 16 && !is_key_id(package.key_id))
        reader.fail("key_id", "must be 16 lower-case hex digits");
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(package), std::move(errors), "the operator package");
}

Result<OperatorPackage> parse_operator_package_text(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxPackageBytes});
    if (!json) return Error{json.error().code, "the operator package: " + json.error().detail};
    return parse_operator_package(*json);
}

Json to_json(const OperatorPackage& package)
{
    return {{"manifest", to_json(package.manifest)},
            {"object_base64", base64_encode(package.object)},
            {"signature_base64", base64_encode(package.signature)},
            {"key_id", package.key_id}};
}

std::string signed_message(const OperatorManifest& manifest, std::string_view object)
{
    std::string message(kFormatLine);
    message += sha256_hex(to_json(manifest).dump()) + "\n";
    message += sha256_hex(object) + "\n";
    return message;
}

Result<OperatorPackage> sign_operator(const OperatorManifest& manifest, std::string_view object,
                                      std::string_view private_key_pem)
{
    if (!manifest.is_uploaded()) return Error{Errc::kInvalid, not_uploaded(manifest)};
    if (const Result<std::string> machine = machine_of_object(object); !machine) return machine.error();
    const Result<PublicKey> key = public_key_of(private_key_pem);
    if (!key) return key.error();
    Result<std::string> signature = sign(signed_message(manifest, object), private_key_pem);
    if (!signature) return signature.error();
    return OperatorPackage{manifest, std::string(object), std::move(*signature), key_id(*key)};
}

Result<void> verify_operator_package(const OperatorPackage& package, std::span<const PublicKey> trusted)
{
    const std::string name =
        "operator " + package.manifest.id + ", version " + std::to_string(package.manifest.version) + ", ";
    if (trusted.empty())
        return Error{Errc::kForbidden, name + "is signed by key " + package.key_id +
                                           ", but no key is trusted here; add its public key to the trusted "
                                           "operator keys"};
    const auto key = std::find_if(trusted.begin(), trusted.end(),
                                  [&](const PublicKey& candidate) { return key_id(candidate) == package.key_id; });
    if (key == trusted.end())
        return Error{Errc::kForbidden, name + "is signed by key " + package.key_id +
                                           ", which is not among the trusted keys " + quoted_ids(trusted) +
                                           "; sign it with one of those, or add its public key to them"};
    if (!verifies(signed_message(package.manifest, package.object), package.signature, *key))
        return Error{Errc::kForbidden, name + "does not carry a valid signature of key " + package.key_id +
                                           ": its manifest or its object was changed after it was signed; sign it "
                                           "again"};
    return {};
}

} // namespace fathom
