#include "probes/tcp/coordinator.hpp"

#include "core/base/secret.hpp"
#include "core/base/wait_for_child.hpp"
#include "probes/tcp/handshake.hpp"
#include "probes/tcp/team_start.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <unistd.h>

namespace fathom::probes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGatherLimit{50};
/// For the ring, too: fathom-probe waits a minute, and is told why.
constexpr std::chrono::seconds kReadyLimit{57};
constexpr std::chrono::seconds kSendLimit{60};
constexpr std::chrono::seconds kAnswerLimit{600};
constexpr std::chrono::milliseconds kLook{250}; ///< between two looks whether one has ended

struct Member {
    OpenFile control;
    Hello hello;
    std::string host;
    std::size_t arrival{};
};

/// The processes of one host.
struct HostTeam {
    std::uint32_t size{};
    cpu_set_t processors{}; ///< of all together
};

class Coordinator {
  public:
    explicit Coordinator(const TeamOrder& order) : order_(&order) {}

    Result<void> gather()
    {
        if (const Result<void> listening = listen(); !listening) return listening;
        const Deadline ready = Clock::now() + kReadyLimit;
        if (const Result<void> started = start(); !started) return started;
        if (const Result<void> come = admit_all(); !come) return come;
        return place_all(ready);
    }

    void print_ready() const
    {
        const bool is_crowded = std::any_of(hosts_.begin(), hosts_.end(), [](const auto& host) {
            return CPU_COUNT(&host.second.processors) < static_cast<int>(host.second.size);
        });
        std::printf("fathom-exchange ready %d %zu %d own ring over TCP\n", order_->processes, hosts_.size(),
                    is_crowded ? 1 : 0);
    }

    /// Until the end of standard input.
    Result<void> serve()
    {
        while (true) {
            std::fflush(stdout);
            const ExchangeCommand command = read_exchange_command();
            for (const Member& member : members_)
                if (const Result<void> sent = send_message(member.control.number(), command, Clock::now() + kSendLimit);
                    !sent)
                    return sent;
            if (command.task == ExchangeTask::kEnd) return {};
            const Result<Answer> answer = gather_answers(Clock::now() + kAnswerLimit);
            if (!answer) return answer.error();
            if (command.task == ExchangeTask::kRun)
                std::printf("fathom-exchange done %.9e\n", answer->seconds);
            else
                std::printf("fathom-exchange checked %.17g %.*s\n", answer->error,
                            static_cast<int>(answer->checksum.size()), answer->checksum.data());
        }
    }

  private:
    Result<void> listen()
    {
        const char* const interface = std::getenv(kInterfaceVariable);
        std::vector<std::string> hosts{"127.0.0.1"};
        if (!order_->launcher.empty()) hosts = own_addresses(interface != nullptr ? interface : "");
        for (const std::string& host : hosts) {
            Result<TcpListener> listener = listen_at(host);
            if (!listener) continue; // an address that has just gone, or that may not be used
            meeting_.addresses.push_back(listener->address);
            listeners_.push_back(std::move(*listener));
        }
        if (!listeners_.empty()) return {};
        return Error{Errc::kUnavailable,
                     "this host has no address that other hosts reach" +
                         (interface != nullptr ? " on the interface " + std::string(interface) : std::string())};
    }

    Result<void> start()
    {
        meeting_.secret = new_secret("");
        if (!order_->launcher.empty()) return launch();
        for (int i = 0; i < order_->processes; ++i) {
            const Result<void> forked = team_.fork_member([this] {
                listeners_.clear();
                return run_member(meeting_, order_->vector);
            });
            if (!forked) return forked;
        }
        return {};
    }

    Result<void> launch()
    {
        std::vector<std::string> command = order_->launcher;
        command.insert(command.end(), {"-n", std::to_string(order_->processes), order_->program, "--join",
                                       std::to_string(order_->vector.elements), std::to_string(order_->vector.seed)});
        std::vector<std::string> environment;
        for (char** setting = environ; setting != nullptr && *setting != nullptr; ++setting)
            environment.emplace_back(*setting);
        environment.push_back(std::string(kMeetVariable) + '=' + to_text(meeting_.addresses));
        environment.push_back(std::string(kSecretVariable) + '=' + meeting_.secret);
        return team_.launch(std::move(command), std::move(environment));
    }

    Result<void> admit_all()
    {
        const Deadline deadline = Clock::now() + kGatherLimit;
        while (members_.size() < static_cast<std::size_t>(order_->processes)) {
            Result<OpenFile> socket =
                accept_member(listeners_, meeting_.secret, kNoRank, std::min(deadline, Clock::now() + kLook));
            if (socket) {
                const Result<Hello> hello = receive_message<Hello>(socket->number(), deadline);
                if (!hello) return hello.error();
                members_.push_back({std::move(*socket), *hello, to_text(hello->host), members_.size()});
                continue;
            }
            const std::string come =
                std::to_string(members_.size()) + " of " + std::to_string(order_->processes) + " processes have come";
            if (team_.has_lost_one()) return Error{Errc::kUnavailable, "a process has ended when " + come};
            if (Clock::now() >= deadline) return Error{Errc::kUnavailable, "only " + come + " in time"};
        }
        listeners_.clear();
        return {};
    }

    /// Neighbours in the ring are of one host where they can be: the least goes between hosts.
    Result<void> place_all(Deadline deadline)
    {
        std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
            return a.host != b.host ? a.host < b.host : a.arrival < b.arrival;
        });
        std::vector<Place> places(members_.size());
        for (std::size_t rank = 0; rank < members_.size(); ++rank) {
            HostTeam& host = hosts_[members_[rank].host];
            CPU_OR(&host.processors, &host.processors, &members_[rank].hello.processors);
            places[rank].host_rank = host.size++;
        }
        for (std::size_t rank = 0; rank < members_.size(); ++rank) {
            const Hello& next = members_[(rank + 1) % members_.size()].hello;
            Place& place = places[rank];
            place.next_address = next.address;
            place.next_port = next.port;
            place.rank = static_cast<std::uint32_t>(rank);
            place.size = static_cast<std::uint32_t>(members_.size());
            place.host_size = hosts_[members_[rank].host].size;
            const Result<void> sent = send_message(members_[rank].control.number(), place, deadline);
            if (!sent) return sent;
        }
        const Result<Answer> ready = gather_answers(deadline);
        if (!ready) return ready.error();
        return {};
    }

    /// One that has ended ends all of it at once, though others wait for it in vain until their own limits.
    Result<void> wait_for_answer(std::size_t rank, Deadline deadline) const
    {
        while (!wait_for_input(members_[rank].control.number(), std::min(deadline, Clock::now() + kLook))) {
            if (team_.has_lost_one()) return Error{Errc::kUnavailable, "a process has ended"};
            if (Clock::now() >= deadline) return Error{Errc::kUnavailable, "a process does not answer"};
        }
        return {};
    }

    /// The longest time, the largest error, and the first one's digest.
    Result<Answer> gather_answers(Deadline deadline) const
    {
        Answer all;
        for (std::size_t rank = 0; rank < members_.size(); ++rank) {
            if (const Result<void> there = wait_for_answer(rank, deadline); !there) return there.error();
            Result<Answer> one = receive_message<Answer>(members_[rank].control.number(), deadline);
            if (!one) return one.error();
            if (!std::isfinite(one->error)) one->error = std::numeric_limits<double>::max();
            all.seconds = std::max(all.seconds, one->seconds);
            all.error = std::max(all.error, one->error);
            if (rank == 0) all.checksum = one->checksum;
        }
        return all;
    }

    const TeamOrder* order_;
    std::vector<TcpListener> listeners_;
    Meeting meeting_;
    StartedTeam team_;
    std::vector<Member> members_; ///< in the order of their ranks, once they are placed
    std::map<std::string, HostTeam> hosts_;
};

} // namespace

int run_member(const Meeting& meeting, const TeamVector& vector)
{
    try {
        const Result<void> served = serve_as_member(meeting, vector);
        if (served) return 0;
        std::fprintf(stderr, "fathom-tcp-probe: %s\n", served.error().detail.c_str());
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "fathom-tcp-probe: out of memory\n");
    }
    return 2;
}

Result<void> coordinate(const TeamOrder& order)
{
    Coordinator coordinator(order);
    if (const Result<void> gathered = coordinator.gather(); !gathered) return gathered;
    coordinator.print_ready();
    return coordinator.serve();
}

} // namespace fathom::probes
