#include "probes/tcp/handshake.hpp"

#include "core/base/hmac.hpp"
#include "core/base/secret.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace fathom::probes {
namespace {

constexpr std::chrono::seconds kStrangersLimit{2};

using Nonce = std::array<std::uint8_t, 16>;
using Proof = std::array<char, kHmacBytes>;

struct Introduction {
    std::uint32_t rank{};
    Nonce nonce{};
    Proof proof{};
};
static_assert(sizeof(Introduction) == sizeof(std::uint32_t) + sizeof(Nonce) + sizeof(Proof));

Nonce new_nonce()
{
    Nonce nonce{};
    fill_random(nonce);
    return nonce;
}

std::string_view view_of(const Nonce& nonce)
{
    return {reinterpret_cast<const char*>(nonce.data()), nonce.size()};
}

/// The two sides' words differ, so that none can send back what it was sent.
Proof prove(std::string_view secret, std::string_view side, std::uint32_t rank, const Nonce& admitting,
            const Nonce& introducing)
{
    std::string text = "fathom tcp 1 ";
    text.append(side).append(" ").append(std::to_string(rank)).append(" ");
    text.append(view_of(admitting)).append(view_of(introducing));
    const std::string digest = hmac_sha256(secret, text);
    Proof proof{};
    std::copy_n(digest.data(), std::min(digest.size(), proof.size()), proof.data());
    return proof;
}

bool is_same(const Proof& one, const Proof& other)
{
    return is_same_digest({one.data(), one.size()}, {other.data(), other.size()});
}

Error stranger()
{
    return Error{Errc::kUnavailable, "a connection comes from a process that does not belong to this measurement"};
}

} // namespace

Result<void> introduce(int socket, std::string_view secret, std::uint32_t rank, Deadline deadline)
{
    const Result<Nonce> admitting = receive_message<Nonce>(socket, deadline);
    if (!admitting) return admitting.error();
    const Nonce own = new_nonce();
    const Introduction introduction{rank, own, prove(secret, "introduces", rank, *admitting, own)};
    if (const Result<void> sent = send_message(socket, introduction, deadline); !sent) return sent.error();
    const Result<Proof> proof = receive_message<Proof>(socket, deadline);
    if (!proof) return proof.error();
    if (!is_same(*proof, prove(secret, "admits", rank, *admitting, own))) return stranger();
    return {};
}

Result<std::uint32_t> admit(int socket, std::string_view secret, Deadline deadline)
{
    const Nonce own = new_nonce();
    if (const Result<void> sent = send_message(socket, own, deadline); !sent) return sent.error();
    const Result<Introduction> said = receive_message<Introduction>(socket, deadline);
    if (!said) return said.error();
    if (!is_same(said->proof, prove(secret, "introduces", said->rank, own, said->nonce))) return stranger();
    const Proof proof = prove(secret, "admits", said->rank, own, said->nonce);
    if (const Result<void> sent = send_message(socket, proof, deadline); !sent) return sent.error();
    return said->rank;
}

Result<OpenFile> accept_member(const std::vector<TcpListener>& listeners, std::string_view secret, std::uint32_t rank,
                               Deadline deadline)
{
    while (true) {
        Result<OpenFile> socket = accept_from(listeners, deadline);
        if (!socket) return socket.error();
        // All of that, however near `deadline` is: who came in time is not left in the middle of its proof.
        const Deadline strangers = std::chrono::steady_clock::now() + kStrangersLimit;
        const Result<std::uint32_t> said = admit(socket->number(), secret, strangers);
        if (said && *said == rank) return std::move(*socket);
    }
}

} // namespace fathom::probes
