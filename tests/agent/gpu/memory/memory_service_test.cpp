// The socket of a node's memory manager, by who breaks its protocol and by very many.
#include "agent/gpu/memory/memory_service.hpp"
#include "core/base/process_limits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMebibyte = 1LL << 20U;
const std::string kOnlyGpu = "GPU-1";

class GpuMemoryService : public testing::Test {
  protected:
    GpuMemoryService()
    {
        std::string text = (std::filesystem::temp_directory_path() / "gpu-service-XXXXXX").string();
        folder_ = ::mkdtemp(text.data());
        settings_.socket = folder_ / "socket";
        settings_.coordinator.gpus = {{kOnlyGpu, kMaxBytes}};
        settings_.coordinator.gap_bytes = 0;
        settings_.coordinator.settle_s = 0;
        settings_.coordinator.turns.most_overrun_s = 0; // the programs are this process
    }
    ~GpuMemoryService() override
    {
        service_.reset();
        std::filesystem::remove_all(folder_);
    }

    void start() { service_ = MemoryService::start(settings_).value(); }

    /// Blocks where the manager has not heard earlier ones yet.
    OpenFile connected() const
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        settings_.socket.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
        OpenFile made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::connect(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        return made;
    }

    static bool send(const OpenFile& socket, const Message& message)
    {
        return ::send(socket.number(), &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message);
    }

    /// A program that asks for memory as it should.
    OpenFile joined(std::int64_t persistent_bytes) const
    {
        OpenFile made = connected();
        EXPECT_TRUE(send(made, with_text({.type = MessageType::kHello, .second = 1000}, "honest")));
        EXPECT_TRUE(send(made, with_text({.type = MessageType::kUseGpu, .second = persistent_bytes}, kOnlyGpu)));
        return made;
    }

    /// The next answer of that type; false where the connection ends before.
    static bool hears(const OpenFile& socket, MessageType type)
    {
        Message message;
        while (::recv(socket.number(), &message, sizeof(message), 0) == sizeof(message)) {
            if (message.type == type) return true;
        }
        return false;
    }

    /// Sends no more, and waits until the manager has read all and closed the connection.
    static bool is_ended_after_all_is_heard(const OpenFile& socket)
    {
        if (socket.number() < 0) return true;
        ::shutdown(socket.number(), SHUT_WR);
        Message message;
        ssize_t got = 1;
        while (got > 0)
            got = ::recv(socket.number(), &message, sizeof(message), 0);
        return got == 0 || errno == ECONNRESET;
    }

    bool wait_for_programs(std::int64_t count) const
    {
        for (int i = 0; i < 12'000; ++i) {
            if (service_->report().gpus.at(0).job_count == count) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    std::filesystem::path folder_;
    MemoryServiceSettings settings_;
    std::unique_ptr<MemoryService> service_;
};

TEST_F(GpuMemoryService, WhoConnectsIsKnownByTheKernelsWord)
{
    uid_t asked = ~uid_t{0};
    settings_.may_connect = [&](uid_t user) {
        asked = user;
        return false;
    };
    start();

    const OpenFile stranger = connected();

    EXPECT_FALSE(hears(stranger, MessageType::kPlace));
    service_.reset();
    EXPECT_EQ(asked, ::getuid());
}

/// Packets of any size, and messages whose numbers are as wrong as numbers can be.
TEST_F(GpuMemoryService, NothingThatProgramsSendBreaksItOrStaysBehind)
{
    // On a busy machine the manager may find all of them at once, those that have gone, too.
    settings_.most_connections_of_user = 3000;
    start();
    const OpenFile neighbour = joined(64 * kMebibyte);
    ASSERT_TRUE(hears(neighbour, MessageType::kPlace));
    std::mt19937_64 random(4711);
    constexpr std::int64_t kMinNumber = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();
    const std::array<std::int64_t, 10> numbers{
        0, 1, 2, -1, 2 * kMebibyte, kMaxBytes, kMaxBytes + 1, kMinNumber, kMaxNumber, kMaxNumber - 1};
    const auto any = [&] { return numbers.at(random() % numbers.size()); };
    std::vector<OpenFile> open(20);
    for (int round = 0; round < 2000; ++round) {
        OpenFile& socket = open.at(random() % open.size());
        if (socket.number() < 0 || random() % 8 == 0) socket = connected();
        if (random() % 4 == 0) {
            std::array<unsigned char, 600> bytes{};
            for (unsigned char& byte : bytes)
                byte = static_cast<unsigned char>(random());
            (void)::send(socket.number(), bytes.data(), random() % bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            continue;
        }
        Message message{.type = static_cast<MessageType>(random() % 10),
                        .first = any(),
                        .second = any(),
                        .third = any(),
                        .fourth = any()};
        if (random() % 3 == 0) message.type = MessageType::kHello;
        if (random() % 16 == 0) message.version = static_cast<std::uint32_t>(random());
        message = with_text(message, random() % 4 == 0 ? std::string("\xff\xfe\x00", 3) : kOnlyGpu);
        (void)::send(socket.number(), &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    // Who connected before is heard before: when these are closed, nothing is unheard.
    for (const OpenFile& socket : open)
        EXPECT_TRUE(is_ended_after_all_is_heard(socket));
    open.clear();

    EXPECT_TRUE(wait_for_programs(1));
    const SharedGpu gpu = service_->report().gpus.at(0);
    EXPECT_EQ(gpu.persistent_bytes, 64 * kMebibyte);
    EXPECT_EQ(gpu.temporary_bytes, 0);
    EXPECT_TRUE(hears(joined(kMebibyte), MessageType::kPlace));
}

TEST_F(GpuMemoryService, TenThousandProgramsAndNoMore)
{
    // Of this process, too: each connection has two ends.
    const std::size_t most = std::min<std::size_t>(kMaxClients, (raise_descriptor_limit() - 100) / 2);
    settings_.most_connections = settings_.most_connections_of_user = most;
    start();
    std::vector<OpenFile> programs;
    for (std::size_t i = 0; i < most; ++i)
        programs.push_back(joined(kMebibyte));
    for (const OpenFile& program : programs)
        ASSERT_TRUE(hears(program, MessageType::kPlace));

    EXPECT_FALSE(hears(connected(), MessageType::kPlace));
    EXPECT_EQ(service_->report().gpus.at(0).job_count, static_cast<std::int64_t>(most));

    programs.clear();
    EXPECT_TRUE(wait_for_programs(0));
    EXPECT_EQ(service_->report().gpus.at(0).persistent_bytes, 0);
    EXPECT_TRUE(hears(joined(kMebibyte), MessageType::kPlace));
}

TEST_F(GpuMemoryService, WhereNoDescriptorIsLeftNewcomersAreTurnedAwayAndOthersGoOn)
{
    start();
    const OpenFile neighbour = joined(kMebibyte);
    ASSERT_TRUE(hears(neighbour, MessageType::kPlace));
    OpenFile newcomer(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    settings_.socket.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    std::vector<OpenFile> all;
    const std::size_t before = descriptor_limit();
    set_descriptor_limit(64);
    for (OpenFile one(::dup(STDERR_FILENO)); one.number() >= 0; one = OpenFile(::dup(STDERR_FILENO)))
        all.push_back(std::move(one));

    EXPECT_EQ(::connect(newcomer.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_FALSE(hears(newcomer, MessageType::kPlace));
    EXPECT_TRUE(send(neighbour, with_text({.type = MessageType::kGrow, .second = 2 * kMebibyte}, kOnlyGpu)));
    EXPECT_TRUE(hears(neighbour, MessageType::kGrown));

    all.clear();
    set_descriptor_limit(before);
    EXPECT_TRUE(hears(joined(kMebibyte), MessageType::kPlace));
}

} // namespace
} // namespace fathom::gpu
