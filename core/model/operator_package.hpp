#pragma once

#include "core/base/ed25519.hpp"
#include "core/model/operator_manifest.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

/// The largest shared object of a package: as base64 in JSON it still fits one of a job's files.
constexpr std::size_t kMaxObjectBytes = 512UL << 10U;
/// The largest package as JSON text.
constexpr std::size_t kMaxPackageBytes = 1UL << 20U;

/// What `verify_operator_package` looks for among a job's files: `operator-<anything>.json`.
bool is_operator_package_name(std::string_view file_name);

/// An uploaded operator (M2): its manifest, its code, and the signature of an expert over both. As JSON:
/// `{"manifest": {…}, "object_base64": "…", "signature_base64": "…", "key_id": "…"}`.
struct OperatorPackage {
    OperatorManifest manifest;
    std::string object;    ///< an ELF64 shared object, raw bytes
    std::string signature; ///< Ed25519, 64 raw bytes
    std::string key_id;    ///< of the key that signed it
};

/// Checks that it can be loaded somewhere: a 64-bit little-endian ELF shared object of at most
/// kMaxObjectBytes. Says for which processor: "x86_64", "aarch64", "riscv64", else "ELF machine N".
/// @error kInvalid  it is none; the detail says what it is instead.
/// @error kTooLarge  with its size and the limit.
Result<std::string> machine_of_object(std::string_view object);

/// Reads and checks a package's form; whether to trust it is `verify_operator_package`'s question.
/// @error kInvalid  with every field error: also when the manifest has no implementation with the library
///                  "uploaded", or the object cannot be loaded anywhere.
Result<OperatorPackage> parse_operator_package(const Json& json);
/// As above, from text.
/// @error kTooLarge  over kMaxPackageBytes.
Result<OperatorPackage> parse_operator_package_text(std::string_view text);
Json to_json(const OperatorPackage& package);

/// What is signed: a line that names the format, then the SHA-256 of the manifest in canonical form
/// (`to_json(manifest).dump()`, its version included), then that of the object, a line each.
std::string signed_message(const OperatorManifest& manifest, std::string_view object);

/// Makes a signed package.
/// @error kInvalid  the manifest is not one of an uploaded operator, the object cannot be loaded anywhere, or
///                  the key is not an unencrypted Ed25519 private key in PEM.
/// @error kTooLarge  the object is over kMaxObjectBytes.
Result<OperatorPackage> sign_operator(const OperatorManifest& manifest, std::string_view object,
                                      std::string_view private_key_pem);

/// Whether one of the trusted keys signed exactly this manifest and object.
/// @error kForbidden  no key is trusted, the key is not among them, or the signature is not its own; the detail
///                    names keys and the way out.
Result<void> verify_operator_package(const OperatorPackage& package, std::span<const PublicKey> trusted);

} // namespace fathom
