// fathom-operator-host: the process that an uploaded operator lives in. fathom-probe starts it inside a sandbox
// and drives it over a socket (wire.hpp). It links no numerical library: an operator's own must not be mixed up
// with those of fathom-probe.

#include "probes/upload/fathom_operator.h"
#include "probes/upload/host_limits.hpp"
#include "probes/upload/wire.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <new>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fathom::probes {
namespace {

using wire::Command;
using wire::Reply;
using wire::Request;
using wire::Status;

constexpr const char* kObject = "/operator.so"; ///< where the sandbox shows it
constexpr int kForbiddenCallExit = 159;         ///< 128 + SIGSYS

/// Of the request that is being served; the signal handler answers it.
volatile std::uint64_t current_ticket = 0;

void set_text(Reply& reply, const char* text)
{
    std::snprintf(reply.text, sizeof reply.text, "%s", text != nullptr ? text : "");
}

Reply answer(Status status, const char* text = nullptr)
{
    Reply reply;
    reply.status = status;
    set_text(reply, text);
    return reply;
}

bool send_reply(Reply reply)
{
    reply.ticket = current_ticket;
    return ::send(wire::kSocketFd, &reply, sizeof reply, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
}

/// Receives a record of exactly this type; false when fathom-probe has gone.
template <class T>
bool receive(T& record)
{
    ssize_t size = 0;
    do {
        size = ::recv(wire::kSocketFd, &record, sizeof record, 0);
    } while (size < 0 && errno == EINTR);
    return size == static_cast<ssize_t>(sizeof record);
}

void on_forbidden_call(int /*signal*/, siginfo_t* info, void* /*context*/)
{
    Reply reply;
    reply.ticket = current_ticket;
    reply.status = Status::kForbiddenCall;
    reply.number = static_cast<std::uint64_t>(info->si_syscall);
    static_cast<void>(!::write(wire::kSocketFd, &reply, sizeof reply));
    ::_exit(kForbiddenCallExit);
}

void prepare_signals()
{
    struct sigaction action{};
    action.sa_sigaction = on_forbidden_call;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSYS, &action, nullptr);
    ::signal(SIGXFSZ, SIG_IGN); // a file that is too large is an error of write, not an end
}

std::size_t element_bytes(std::uint32_t kind)
{
    if (kind == FATHOM_DOUBLES) return sizeof(double);
    if (kind == FATHOM_FLOATS) return sizeof(float);
    return kind == FATHOM_BYTES ? 1 : 0;
}

/// The uploaded operator and its one instance.
class Guest {
  public:
    Reply start(const wire::Start& start)
    {
        void* const object = ::dlopen(kObject, RTLD_NOW | RTLD_LOCAL);
        if (object == nullptr) return answer(Status::kRefused, ::dlerror());
        using Entry = const fathom_operator_v1* (*)();
        const auto entry = reinterpret_cast<Entry>(::dlsym(object, "fathom_operator"));
        if (entry == nullptr) return answer(Status::kRefused, "it exports no function fathom_operator");
        table_ = entry();
        if (const char* const problem = check_table(start.id)) return answer(Status::kRefused, problem);
        return create(start);
    }

    Reply serve(const Request& request)
    {
        if (self_ == nullptr) return answer(Status::kRefused, "no instance was made");
        switch (request.command) {
        case Command::kPrepare:
            return prepare(request.argument);
        case Command::kExecute:
            return execute(request.argument);
        case Command::kError:
            return error();
        case Command::kRead:
        case Command::kWrite:
            return copy(request.command);
        case Command::kStart:
        case Command::kEnd:
            break;
        }
        return answer(Status::kRefused, "there is no such command");
    }

    void destroy()
    {
        if (self_ != nullptr) table_->destroy(self_);
    }

  private:
    const char* check_table(const char* id)
    {
        if (table_ == nullptr) return "fathom_operator() returned NULL";
        if (table_->abi_version != FATHOM_OPERATOR_ABI) {
            std::snprintf(problem_, sizeof problem_,
                          "it was built for version %u of the operator interface, this program has version %u",
                          table_->abi_version, FATHOM_OPERATOR_ABI);
            return problem_;
        }
        if (table_->struct_bytes < sizeof(fathom_operator_v1)) return "its table of functions is too short";
        if (table_->id == nullptr || std::strncmp(table_->id, id, wire::kNameBytes) != 0) {
            std::snprintf(problem_, sizeof problem_,
                          "it says that it is operator \"%.64s\", its manifest says \"%.64s\"",
                          table_->id != nullptr ? table_->id : "", id);
            return problem_;
        }
        const bool complete = table_->create != nullptr && table_->memory_bytes != nullptr &&
                              table_->prepare != nullptr && table_->execute != nullptr && table_->error != nullptr &&
                              table_->result != nullptr && table_->library != nullptr && table_->message != nullptr &&
                              table_->destroy != nullptr;
        return complete ? nullptr : "a function is missing in its table";
    }

    Reply create(const wire::Start& start)
    {
        std::vector<fathom_parameter> parameters;
        for (std::uint32_t i = 0; i < start.parameter_count; ++i)
            parameters.push_back({start.parameters[i].name, start.parameters[i].value});
        self_ = table_->create(parameters.data(), start.parameter_count, static_cast<std::int32_t>(start.threads));
        if (self_ == nullptr) return answer(Status::kFailed, table_->message(nullptr));
        Reply reply = answer(Status::kOk, table_->library(self_));
        reply.number = table_->memory_bytes(self_);
        return reply;
    }

    Reply outcome(std::int32_t code)
    {
        if (code == FATHOM_OK) return answer(Status::kOk);
        return answer(code == FATHOM_OUT_OF_MEMORY ? Status::kOutOfMemory : Status::kFailed, table_->message(self_));
    }

    Reply prepare(std::uint64_t seed)
    {
        Reply reply = outcome(table_->prepare(self_, seed));
        if (reply.status != Status::kOk) return reply;
        result_ = table_->result(self_);
        if (result_.values == nullptr || result_.count == 0 || element_bytes(result_.kind) == 0)
            return answer(Status::kRefused, "its result is empty or of an unknown kind");
        reply.kind = result_.kind;
        reply.number = result_.count;
        return reply;
    }

    Reply execute(std::uint64_t times)
    {
        for (std::uint64_t i = 0; i < times; ++i) {
            if (const std::int32_t code = table_->execute(self_); code != FATHOM_OK) return outcome(code);
        }
        return answer(Status::kOk);
    }

    Reply error()
    {
        Reply reply = answer(Status::kOk);
        reply.real = table_->error(self_);
        return reply;
    }

    Reply copy(Command direction)
    {
        const fathom_result now = table_->result(self_);
        if (now.values == nullptr || now.count != result_.count || now.kind != result_.kind)
            return answer(Status::kRefused, "its result changed its size or kind");
        const std::size_t size = now.count * element_bytes(now.kind);
        if (shared_.empty() && !map_shared(size)) return answer(Status::kRefused, "its result cannot be mapped");
        if (direction == Command::kRead)
            std::memcpy(shared_.data(), now.values, size);
        else
            std::memcpy(now.values, shared_.data(), size);
        return answer(Status::kOk);
    }

    bool map_shared(std::size_t size)
    {
        struct stat facts{};
        if (::fstat(wire::kResultFd, &facts) != 0 || static_cast<std::size_t>(facts.st_size) < size) return false;
        void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, wire::kResultFd, 0);
        if (memory == MAP_FAILED) return false;
        shared_ = {static_cast<std::byte*>(memory), size};
        return true;
    }

    const fathom_operator_v1* table_ = nullptr;
    void* self_ = nullptr;
    fathom_result result_{};
    std::span<std::byte> shared_;
    char problem_[wire::kTextBytes]{};
};

/// Foreign code runs inside `work`: whatever it throws is an answer.
template <class Work>
Reply guarded(Work work)
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return answer(Status::kOutOfMemory, "an allocation failed");
    } catch (const std::exception& e) {
        return answer(Status::kFailed, e.what());
    } catch (...) {
        return answer(Status::kFailed, "it threw something that is no std::exception");
    }
}

Reply start_guest(Guest& guest, const wire::Start& start)
{
    errno = 0;
    const HostLimits limits{start.memory_bytes, start.threads, start.allows_network != 0};
    if (const char* const problem = limit_this_process(limits)) {
        Reply reply = answer(Status::kNoSandbox);
        std::snprintf(reply.text, sizeof reply.text, "%s: %s", problem, std::strerror(errno)); // one thread so far
        return reply;
    }
    if (start.id[0] == '\0') return answer(Status::kOk); // only a trial of the sandbox
    return guarded([&] { return guest.start(start); });
}

int serve()
{
    prepare_signals();
    if (!send_reply(answer(Status::kOk))) return 1; // says that the sandbox stands
    Guest guest;
    for (Request request; receive(request);) {
        current_ticket = request.ticket;
        if (request.command == Command::kEnd) {
            guarded([&] {
                guest.destroy();
                return Reply{};
            });
            return 0;
        }
        wire::Start start;
        if (request.command == Command::kStart && !receive(start)) return 1;
        const Reply reply = request.command == Command::kStart ? start_guest(guest, start)
                                                               : guarded([&] { return guest.serve(request); });
        if (!send_reply(reply)) return 1;
    }
    return 0;
}

} // namespace
} // namespace fathom::probes

int main()
{
    // Not returned: destructors and exit handlers of the guest are of no use to anybody.
    _exit(fathom::probes::serve());
}
