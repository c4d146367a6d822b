#pragma once

// Internal to core/net: who may have one of a server's connections.

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

namespace fathom::net {

struct PlaceLimits {
    std::size_t connections{};
    std::size_t of_one_network{};   ///< without a client certificate
    std::size_t for_certificates{}; ///< of all, those that only peers with a client certificate may keep
    std::size_t handshakes{};       ///< at the same time; 0: as many as there are places
    /// A handshake that is younger gives way to none: where very many peers come at once, all would be ended half done.
    std::chrono::milliseconds handshake_grace{2000};
};

/// Counts connections. Each begins unknown, in its TLS handshake, and after it is either known by its client
/// certificate or a stranger. So many may be in their handshakes at the same time that each gets through; who comes
/// meanwhile is to wait. Where places are kept for certificates an unknown peer
/// may use any, or else nobody could show a certificate when strangers fill the rest; when all are taken the oldest
/// handshake gives way to a new one. Not thread-safe.
class ConnectionPlaces {
  public:
    using Id = const void*;

    explicit ConnectionPlaces(PlaceLimits limits) : limits_(limits) {}

    using Time = std::chrono::steady_clock::time_point;
    enum class Answer { kTaken, kServerFull, kNetworkFull, kManyHandshakes };
    struct Admission {
        Answer answer{Answer::kTaken};
        Id gave_way = nullptr; ///< the connection to be closed for it; it holds no place any more
    };
    /// @param network  empty when it is not known yet: set_network() follows.
    Admission take(Id connection, const std::string& network, Time now);
    /// False when the network has all the connections that it may, or the connection gave way meanwhile.
    bool set_network(Id connection, const std::string& network, Time now);

    /// The handshake is done; `network` counts no longer.
    void know(Id connection);
    /// The handshake is done, without a certificate. False when strangers have all the places that they may.
    bool keep_stranger(Id connection);
    void give_back(Id connection);

  private:
    enum class Kind { kUnknown, kStranger, kKnown };
    struct Place {
        std::string network;
        Kind kind{Kind::kUnknown};
        Time since;                           ///< when it was taken
        std::list<Id>::iterator in_handshake; ///< of the unknown
    };
    bool is_full(const std::string& network) const;
    /// Whether the oldest handshake has taken so long that another one may have its place.
    bool may_end_oldest(Time now) const;
    void end_oldest(Time now);
    bool are_handshakes_full() const;
    /// Whether a handshake of this network was ended of late: who says nothing does not fill the line for others.
    bool is_slow(const std::string& network, Time now) const;
    void remember_network(Place& place, const std::string& network);
    void forget_network(const Place& place);
    std::unordered_map<Id, Place>::iterator find_unknown(Id connection);

    const PlaceLimits limits_;
    std::unordered_map<Id, Place> places_;
    std::unordered_map<std::string, std::size_t> of_network_;
    std::list<Id> handshakes_;                            ///< oldest first
    std::unordered_map<std::string, Time> slow_networks_; ///< when a handshake of theirs was ended
    std::size_t strangers_ = 0;
};

} // namespace fathom::net
