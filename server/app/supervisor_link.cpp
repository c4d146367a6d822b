#include "server/app/supervisor_link.hpp"

#include "core/base/error_text.hpp"
#include "core/base/packet_socket.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/process_answer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxProbeOutput = 4UL << 20U;

Error failed(const char* what)
{
    return {Errc::kUnavailable, std::string(what) + ": " + error_text(errno)};
}

Error supervisor_is_gone()
{
    return {Errc::kUnavailable, "fathomd's supervisor has ended"};
}

/// A file without a name that another process reads as /proc/self/fd/N.
Result<OpenFile> memory_file(const std::string& text)
{
    OpenFile file(memfd_create("probe-task", MFD_CLOEXEC));
    if (file.number() < 0) return failed("memory file");
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t size = write(file.number(), text.data() + written, text.size() - written);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return failed("memory file");
        written += static_cast<std::size_t>(size);
    }
    return file;
}

/// All that comes until every writer is gone; what is beyond the bound is read and dropped.
Result<std::string> read_output(int pipe)
{
    std::string output;
    std::size_t dropped = 0;
    char buffer[16384];
    for (;;) {
        const ssize_t size = read(pipe, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        const auto count = static_cast<std::size_t>(size);
        if (output.size() + count <= kMaxProbeOutput)
            output.append(buffer, count);
        else
            dropped += count;
    }
    if (dropped > 0) return Error{Errc::kUnavailable, "the probe printed too much"};
    return output;
}

} // namespace

Result<std::string> SupervisorLink::ask(SupervisorRequest request, const std::string& text)
{
    const std::scoped_lock lock(asking_);
    const std::string message = static_cast<char>(request) + text;
    if (Result<void> sent = send_packet(requests_.number(), message); !sent) return sent.error();
    const std::optional<Packet> answer = receive_packet(requests_.number());
    if (!answer) return supervisor_is_gone();
    return decode_answer(answer->text);
}

Result<DatabaseAccess> SupervisorLink::start_database()
{
    const Result<std::string> answer = ask(SupervisorRequest::kStartDatabase);
    if (!answer) return answer.error();
    const std::size_t middle = answer->find('\0');
    if (middle == std::string::npos) return Error{Errc::kInternal, "fathomd's supervisor named no database"};
    return DatabaseAccess{.url = answer->substr(0, middle), .psql_command = answer->substr(middle + 1)};
}

std::string SupervisorLink::database_state()
{
    const Result<std::string> answer = ask(SupervisorRequest::kDatabaseState);
    return answer ? *answer : answer.error().detail;
}

std::optional<std::uint64_t> SupervisorLink::free_bytes()
{
    const Result<std::string> answer = ask(SupervisorRequest::kFreeBytes);
    if (!answer) return std::nullopt;
    std::string_view bytes = *answer;
    return take_number<std::uint64_t>(bytes);
}

AdminTokenFile SupervisorLink::admin_token_file(const std::filesystem::path& state_dir)
{
    return {.path = state_dir / kAdminTokenFile,
            .read = [this] { return ask(SupervisorRequest::kReadAdminToken); },
            .write = [this](const std::string& content) -> Result<void> {
                const Result<std::string> done = ask(SupervisorRequest::kWriteAdminToken, content);
                if (!done) return done.error();
                return {};
            }};
}

AuthorityKeyFile SupervisorLink::authority_key_file(const std::filesystem::path& path)
{
    return {.path = path,
            .read = [this] { return ask(SupervisorRequest::kReadAuthorityKey); },
            .make = [this] { return ask(SupervisorRequest::kMakeAuthorityKey); }};
}

Result<void> SupervisorLink::write_authorities(const std::string& certificates_pem)
{
    const Result<std::string> done = ask(SupervisorRequest::kWriteAuthorities, certificates_pem);
    if (!done) return done.error();
    return {};
}

Result<net::Credential> SupervisorLink::read_certificate()
{
    const Result<std::string> answer = ask(SupervisorRequest::kReadCertificate);
    if (!answer) return answer.error();
    const std::size_t middle = answer->find('\0');
    if (middle == std::string::npos) return Error{Errc::kInternal, "fathomd's supervisor named no key"};
    return net::Credential{answer->substr(0, middle), answer->substr(middle + 1)};
}

bool SupervisorLink::can_verify()
{
    const Result<std::string> answer = ask(SupervisorRequest::kFindVerifier);
    return answer && !answer->empty();
}

Result<std::string> SupervisorLink::run_probe(const std::string& task)
{
    const Result<OpenFile> file = memory_file(task);
    if (!file) return file.error();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return failed("pipe");
    const OpenFile output_read(ends[0]);
    OpenFile output_write(ends[1]);
    const std::string order(1, static_cast<char>(VerifyingRequest::kRun));
    if (no_more_probes_) return Error{Errc::kUnavailable, "fathomd is stopping"};
    const Result<void> sent = send_packet(probes_.number(), order, {file->number(), output_write.number()});
    if (!sent) return sent.error();
    if (no_more_probes_) end_probes(); // asked for before there was one to end
    output_write = OpenFile();
    Result<std::string> output = read_output(output_read.number());
    const std::optional<Packet> end = receive_packet(probes_.number());
    if (!end) return supervisor_is_gone();
    if (const Result<std::string> ended_well = decode_answer(end->text); !ended_well) return ended_well.error();
    return output;
}

void SupervisorLink::end_probes()
{
    no_more_probes_ = true;
    const std::string order(1, static_cast<char>(VerifyingRequest::kEnd));
    // Where nobody hears it, nothing runs any more.
    static_cast<void>(send_packet(probes_.number(), order));
}

} // namespace fathom::server
