#pragma once

#include "core/base/result.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// A public key of Ed25519 (RFC 8032), as its 32 raw bytes.
struct PublicKey {
    std::array<std::uint8_t, 32> bytes{};

    bool operator==(const PublicKey&) const = default;
};

/// A fresh pair as PEM files hold it: PKCS #8, unencrypted, and SubjectPublicKeyInfo.
struct KeyPair {
    std::string private_pem;
    std::string public_pem;
};

/// Makes a key pair.
/// @error kInternal  OpenSSL cannot; the detail says why.
Result<KeyPair> new_key_pair();

/// Every public key of a text of one or more PEM blocks, in order, repeated keys once; what stands between the
/// blocks is ignored. At least one key, at most 256.
/// @error kInvalid  no key in it, a broken block, or a key of another kind (RSA, EC, …).
Result<std::vector<PublicKey>> parse_public_keys(std::string_view pem);

/// The public half of an unencrypted private key.
/// @error kInvalid  it is not an Ed25519 private key in PEM.
Result<PublicKey> public_key_of(std::string_view private_pem);

/// How people name a key: the first 16 hex digits of the SHA-256 of its raw bytes.
std::string key_id(const PublicKey& key);

/// Signs; the signature has 64 raw bytes.
/// @error kInvalid  `private_pem` is not an unencrypted Ed25519 private key in PEM.
Result<std::string> sign(std::string_view message, std::string_view private_pem);

/// True when `signature` is this key's signature of the message.
bool verifies(std::string_view message, std::string_view signature, const PublicKey& key);

} // namespace fathom
