#include "probes/profile/instruction_kind.hpp"

#include <algorithm>
#include <initializer_list>

namespace fathom::profile {
namespace {

using Names = std::initializer_list<std::string_view>;

bool starts_with_any(std::string_view name, Names starts)
{
    return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

bool is_any(std::string_view name, Names names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// AVX instructions are those of SSE with a v before them.
std::string_view without_v(std::string_view name)
{
    return name.starts_with('v') && name.size() > 1 && !starts_with_any(name, {"verr", "verw"}) ? name.substr(1) : name;
}

bool has_float_ending(std::string_view name)
{
    return name.ends_with("ss") || name.ends_with("sd") || name.ends_with("ps") || name.ends_with("pd");
}

bool is_fused(std::string_view stem)
{
    return starts_with_any(stem, {"fmadd", "fmsub", "fnmadd", "fnmsub"}) && has_float_ending(stem);
}

bool is_sse_arithmetic(std::string_view stem)
{
    return has_float_ending(stem) && starts_with_any(stem, {"add", "sub", "mul", "div", "sqrt", "min", "max", "hadd",
                                                            "hsub", "dpp", "rcp", "rsqrt"});
}

bool is_x87_arithmetic(std::string_view name)
{
    return starts_with_any(name, {"fadd", "fiadd", "fsub", "fisub", "fmul", "fimul", "fdiv", "fidiv", "fsqrt"});
}

bool is_string(std::string_view name)
{
    // Capstone writes the prefix, too. A movsd without one is the SSE move.
    return starts_with_any(name, {"rep", "stos", "lods", "scas"}) ||
           is_any(name, {"movsb", "movsw", "movsq", "cmpsb", "cmpsw", "cmpsq"});
}

} // namespace

CodeKind x86_kind(std::string_view name)
{
    const std::string_view stem = without_v(name);
    if (is_string(name)) return CodeKind::kString;
    if (is_any(name, {"pause", "tpause", "umwait"})) return CodeKind::kWait;
    if (starts_with_any(stem, {"aes", "sha1", "sha256", "pclmul", "crc32"})) return CodeKind::kCrypto;
    if (is_any(name, {"mfence", "cmpxchg", "cmpxchg16b", "xadd"})) return CodeKind::kAtomic;
    if (is_fused(stem)) return CodeKind::kFloating;
    if (starts_with_any(stem, {"div", "sqrt"}) && has_float_ending(stem)) return CodeKind::kSlowFloating;
    if (starts_with_any(name, {"fdiv", "fidiv", "fsqrt", "fsin", "fcos", "fptan", "fpatan", "f2xm1", "fyl2x", "fprem"}))
        return CodeKind::kSlowFloating;
    if (is_sse_arithmetic(stem) || is_x87_arithmetic(name)) return CodeKind::kFloating;
    if (starts_with_any(stem, {"cvt", "comis", "ucomis", "round"}) ||
        (stem.starts_with("cmp") && has_float_ending(stem)) || starts_with_any(name, {"fcom", "fucom", "fabs", "fchs"}))
        return CodeKind::kFloating;
    if (stem.starts_with("movmsk")) return CodeKind::kInteger;
    if (starts_with_any(stem,
                        {"mov",       "push",      "pop",    "nop",     "endbr",   "xchg",    "prefetch", "lddqu",
                         "zeroupper", "broadcast", "insert", "extract", "unpck",   "punpck",  "shuf",     "pshuf",
                         "perm",      "blend",     "pblend", "gather",  "pgather", "scatter", "pscatter", "maskmov"}) &&
        !stem.starts_with("popcnt"))
        return CodeKind::kMove;
    if (is_any(name, {"cdqe", "cdq", "cqo", "cwde", "leave", "ret", "wait"}) ||
        starts_with_any(name, {"fld", "fst", "fild", "fist", "fxch"}))
        return CodeKind::kMove;
    return CodeKind::kInteger;
}

X86Writing x86_writing(std::string_view name)
{
    const std::string_view stem = without_v(name);
    if (is_any(name, {"cmp", "bt", "push", "call", "ret", "mul", "div", "idiv", "jmp", "nop"}) ||
        starts_with_any(stem, {"test", "ptest", "comis", "ucomis", "prefetch"}))
        return X86Writing::kNothing;
    if (name.starts_with('j') || starts_with_any(name, {"fld", "fild", "fcom", "fucom"}) || is_x87_arithmetic(name))
        return X86Writing::kNothing;
    if (starts_with_any(stem, {"mov", "lea", "set", "pop", "fst", "fist", "cvt", "stos", "broadcast", "extract",
                               "pshuf", "sqrt", "rcp", "lddqu"}) &&
        !stem.starts_with("popcnt"))
        return X86Writing::kWrites;
    if (is_any(name, {"popcnt", "lzcnt", "tzcnt", "bsf", "bsr"})) return X86Writing::kWrites;
    return name.starts_with('v') && !is_fused(stem) ? X86Writing::kWrites : X86Writing::kChanges;
}

bool x86_ignores_memory(std::string_view name)
{
    return is_any(name, {"lea", "nop"}) || name.starts_with("prefetch");
}

bool x86_is_packed(std::string_view name)
{
    const std::string_view stem = without_v(name);
    return (is_fused(stem) || is_sse_arithmetic(stem)) && (name.ends_with("ps") || name.ends_with("pd"));
}

int x86_flops(std::string_view name, int bytes)
{
    const std::string_view stem = without_v(name);
    if (is_x87_arithmetic(name) && !is_fused(stem)) return 1;
    if (!is_fused(stem) && !is_sse_arithmetic(stem)) return 0;
    const int element_bytes = name.ends_with("s") ? 4 : 8;
    const int lanes = x86_is_packed(name) ? std::max(1, bytes / element_bytes) : 1;
    return is_fused(stem) ? 2 * lanes : lanes;
}

CodeKind arm64_kind(std::string_view name)
{
    if (is_any(name, {"yield", "wfe"})) return CodeKind::kWait;
    if (starts_with_any(name, {"aes", "sha1", "sha256", "sha512", "crc32", "pmull"})) return CodeKind::kCrypto;
    if (starts_with_any(name,
                        {"ldx", "stx", "ldax", "stlx", "cas", "swp", "ldadd", "ldset", "ldclr", "ldeor", "dmb", "dsb"}))
        return CodeKind::kAtomic;
    if (is_any(name, {"br", "blr"})) return CodeKind::kJump;
    if (is_any(name, {"b", "bl"}) || arm64_is_conditional(name)) return CodeKind::kBranch;
    if (starts_with_any(name, {"fdiv", "fsqrt"})) return CodeKind::kSlowFloating;
    if (starts_with_any(name, {"ld", "st", "mov", "fmov", "nop", "dup", "ins", "umov", "smov", "prfm", "ret", "zip",
                               "uzp", "ext", "trn", "tbl"}))
        return CodeKind::kMove;
    if (name.starts_with('f') || starts_with_any(name, {"scvtf", "ucvtf"})) return CodeKind::kFloating;
    return CodeKind::kInteger;
}

bool arm64_only_reads(std::string_view name)
{
    return starts_with_any(name, {"cmp", "cmn", "tst", "ccmp", "fcmp", "fccmp", "prfm"}) ||
           arm64_is_conditional(name) || is_any(name, {"br", "blr", "ret"});
}

bool arm64_is_conditional(std::string_view name)
{
    return starts_with_any(name, {"b.", "cbz", "cbnz", "tbz", "tbnz"});
}

int arm64_moved_bytes(std::string_view name, int registers_bytes)
{
    if (name.ends_with("rb") || name.ends_with("rsb")) return 1;
    if (name.ends_with("rh") || name.ends_with("rsh")) return 2;
    if (name.ends_with("rsw")) return 4;
    return registers_bytes;
}

int arm64_flops(std::string_view name, int lanes)
{
    if (starts_with_any(name, {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls"})) return 2 * lanes;
    if (starts_with_any(name, {"fadd", "fsub", "fmul", "fnmul", "fdiv", "fsqrt", "fmin", "fmax"})) return lanes;
    return 0;
}

} // namespace fathom::profile
