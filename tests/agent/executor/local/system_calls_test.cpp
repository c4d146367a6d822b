// Which system calls jobs find refused, and that ordinary programs miss nothing.

#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <sys/syscall.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::order;
using test::shell_order;

/// Calls by number, and what they fail with. The system calls take no more than these arguments.
constexpr const char* kCaller = R"py(
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(argument) for argument in arguments])
    return 'done' if result != -1 else errno.errorcode[ctypes.get_errno()]
)py";

/// As a root agent runs jobs by default, where it can.
class SystemCallsOfJobs : public LocalExecutorTest {
  protected:
    void SetUp() override
    {
        if (::getuid() == 0) options_.user_ids = UserIds{200000, 265535};
    }

    std::string text_of_python(const std::string& program)
    {
        const AttemptEnd end = run(order({"python3", "-c", kCaller + program}));
        return end.detail + output(end.attempt_id, OutputStream::kStdout) +
               output(end.attempt_id, OutputStream::kStderr);
    }

    static std::string call(long number, const std::string& arguments)
    {
        return "call(" + std::to_string(number) + ", " + arguments + ")";
    }
};

TEST_F(SystemCallsOfJobs, AreFilteredHere)
{
    EXPECT_TRUE(executor().facts()["isolation"]["filters_system_calls"].get<bool>());
    for (const std::string& gap : executor().isolation_gaps())
        EXPECT_EQ(gap.find("system calls"), std::string::npos) << gap;
}

/// Each of them works for everybody on a usual kernel, or fails otherwise with these arguments.
TEST_F(SystemCallsOfJobs, OfTheKernelsInnerPartsAreRefused)
{
    const std::string program = "print(" + call(SYS_keyctl, "0, -3, 1") + ", " + call(SYS_keyctl, "1, 0") + ", " +
                                call(SYS_add_key, "0, 0, 0, 0, -3") + ", " + call(SYS_request_key, "0, 0, 0, 0") +
                                ", " + call(SYS_userfaultfd, "1") + ", " + call(SYS_bpf, "99, 0, 0") + ", " +
                                call(SYS_syslog, "99, 0, 0") + ", " + call(SYS_adjtimex, "0") + ")\n";

    EXPECT_EQ(text_of_python(program), "EPERM EPERM EPERM EPERM EPERM EPERM EPERM EPERM\n");
}

TEST_F(SystemCallsOfJobs, ThatOnlyTheAdministratorMayMakeAreRefusedInANamespaceOfTheirOwnToo)
{
    const std::string calls = call(SYS_keyctl, "0, -3, 1") + ", " + call(SYS_open_by_handle_at, "-1, 0, 0") + ", " +
                              call(SYS_finit_module, "-1, 0, 0") + ", " + call(SYS_reboot, "0, 0, 0, 0") + ", " +
                              call(SYS_swapon, "0, 0") + ", " + call(SYS_acct, "0");
    const std::string program = "flags = 0x10000000 | 0x00020000\n" // of users and of mounts
                                "own = libc.unshare(flags)\n"
                                "print(own == 0 or os.strerror(ctypes.get_errno()), " +
                                calls + ")\n";

    EXPECT_EQ(text_of_python(program), "True EPERM EPERM EPERM EPERM EPERM EPERM\n");
}

TEST_F(SystemCallsOfJobs, ThatProgramsDoWithoutAreUnknown)
{
    const std::string program = "print(" + call(SYS_io_uring_setup, "1, 0") + ", " +
                                call(SYS_io_uring_enter, "-1, 0, 0, 0, 0") + ", " +
                                call(SYS_io_uring_register, "-1, 0, 0, 0") + ", " + call(SYS_fsopen, "0, 0") + ", " +
                                call(SYS_move_mount, "-1, 0, -1, 0, 0") + ")\n";

    EXPECT_EQ(text_of_python(program), "ENOSYS ENOSYS ENOSYS ENOSYS ENOSYS\n");
}

TEST_F(SystemCallsOfJobs, AreRefusedToTheirChildrenAndOtherPrograms)
{
    const std::string program = "if os.fork() == 0:\n"
                                "    if len(sys.argv) == 1: os.execvp('python3', ['python3', '-c', \"\"\"" +
                                std::string(kCaller) + "print(" + call(SYS_keyctl, "0, -3, 1") +
                                ")\"\"\", 'child'])\n"
                                "os.wait()\n";

    EXPECT_EQ(text_of_python(program), "EPERM\n");
}

#ifdef __x86_64__

/// By the interrupt that 32-bit programs use, and by the third numbering that the processor has.
TEST_F(SystemCallsOfJobs, AreRefusedByTheirOtherNumbersToo)
{
    const std::string program =
        R"py(
import mmap, signal
def old_call(number, first, second, third):
    code = (b'\x53' + b'\xb8' + number.to_bytes(4, 'little') + b'\xbb' + first.to_bytes(4, 'little', signed=True) +
            b'\xb9' + second.to_bytes(4, 'little', signed=True) + b'\xba' + third.to_bytes(4, 'little') +
            b'\xcd\x80' + b'\x5b' + b'\xc3')
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
def tell(number, *arguments):
    if os.fork() == 0:
        result = old_call(number, *arguments)
        os._exit(-result if result < 0 else 200)
    status = os.wait()[1]
    # A kernel without 32-bit programs ends who tries.
    return 'EPERM' if os.WIFSIGNALED(status) else errno.errorcode.get(os.waitstatus_to_exitcode(status), 'done')
print(tell(288, 0, -3, 1), tell(374, 1, 0, 0), )py" +
        call(0x40000000L | SYS_keyctl, "0, -3, 1") + ")\n";

    EXPECT_EQ(text_of_python(program), "EPERM EPERM ENOSYS\n");
}

#endif

TEST_F(SystemCallsOfJobs, OfOrdinaryProgramsWork)
{
    const std::string program = R"py(
import multiprocessing, threading, time, socket, tempfile
def square(number): return number * number
context = multiprocessing.get_context('fork')
with context.Pool(3) as pool: print(pool.map(square, range(5)))
shared = context.Value('i', 0)
def add():
    with shared.get_lock(): shared.value += 1
workers = [context.Process(target=add) for _ in range(3)] + [threading.Thread(target=add) for _ in range(3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print(shared.value)
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
listener.accept()[0].sendall(b'sent')
print(client.recv(4))
with tempfile.TemporaryFile() as file: print(file.write(b'12345'))
print(os.sched_getaffinity(0) != set(), time.clock_gettime(time.CLOCK_MONOTONIC) > 0)
)py";

    EXPECT_EQ(text_of_python(program), "[0, 1, 4, 9, 16]\n6\nb'sent'\n5\nTrue True\n");
}

/// As a debugger does: it stops a child, reads its memory and lets it go on.
TEST_F(SystemCallsOfJobs, OfDebuggersWork)
{
    const std::string program = R"py(
secret = ctypes.create_string_buffer(b'12345678')
child = os.fork()
if child == 0:
    libc.ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), 19)
    os._exit(3)
print(os.WIFSTOPPED(os.waitpid(child, 0)[1]))
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
print(libc.ptrace(2, child, ctypes.addressof(secret), None).to_bytes(8, 'little'))
libc.ptrace(7, child, None, None)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
)py";

    EXPECT_EQ(text_of_python(program), "True\nb'12345678'\n3\n");
}

/// As containers and the sandbox of uploaded operators need it.
TEST_F(SystemCallsOfJobs, OfNamespacesWork)
{
    const AttemptEnd end = run(shell_order("unshare --user --map-root-user --mount sh -c "
                                           "'mount -t tmpfs own /mnt && echo x > /mnt/file && ls /mnt'"));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "file\n")
        << output(end.attempt_id, OutputStream::kStderr) << end.detail;
}

} // namespace
} // namespace fathom::agent
