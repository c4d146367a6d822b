#include "probes/profile/disassembly.hpp"

#include "probes/profile/instruction_kind.hpp"

#include <algorithm>
#include <capstone/capstone.h>
#include <set>
#include <span>

namespace fathom::profile {
namespace {

bool has_group(const cs_insn& insn, std::uint8_t group)
{
    const std::span<const std::uint8_t> groups(insn.detail->groups, insn.detail->groups_count);
    return std::find(groups.begin(), groups.end(), group) != groups.end();
}

/// rax, eax, ax, al and ah are one register; others are no general ones.
std::uint32_t general_register(x86_reg reg)
{
    static constexpr std::array<std::array<x86_reg, 4>, 16> kRegisters{
        {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
         {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
         {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
         {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
         {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
         {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
         {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
         {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
         {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
         {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
         {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
         {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
         {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
         {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
         {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
         {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}}};
    for (std::uint32_t i = 0; i < kRegisters.size(); ++i) {
        if (std::find(kRegisters[i].begin(), kRegisters[i].end(), reg) != kRegisters[i].end()) return i + 1;
    }
    return 0;
}

std::uint32_t general_register(arm64_reg reg)
{
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) return static_cast<std::uint32_t>(reg - ARM64_REG_X0) + 1;
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W28) return static_cast<std::uint32_t>(reg - ARM64_REG_W0) + 1;
    return 0;
}

int arm64_lanes(arm64_vas arrangement)
{
    switch (arrangement) {
    case ARM64_VAS_16B:
        return 16;
    case ARM64_VAS_8B:
    case ARM64_VAS_8H:
        return 8;
    case ARM64_VAS_4H:
    case ARM64_VAS_4S:
        return 4;
    case ARM64_VAS_2S:
    case ARM64_VAS_2D:
        return 2;
    case ARM64_VAS_INVALID:
    case ARM64_VAS_1D:
    case ARM64_VAS_1Q:
        return 1;
    }
    return 1;
}

int arm64_register_bytes(arm64_reg reg, arm64_vas arrangement)
{
    const auto is_within = [&](arm64_reg first) { return reg >= first && reg < first + 32; };
    if (is_within(ARM64_REG_B0)) return 1;
    if (is_within(ARM64_REG_H0)) return 2;
    if (is_within(ARM64_REG_S0) || (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) || reg == ARM64_REG_WZR) return 4;
    const bool is_half = arrangement == ARM64_VAS_8B || arrangement == ARM64_VAS_4H || arrangement == ARM64_VAS_2S ||
                         arrangement == ARM64_VAS_1D;
    if (is_within(ARM64_REG_Q0) || is_within(ARM64_REG_V0)) return is_half ? 8 : 16;
    return 8;
}

void add_source(Instruction& instruction, std::uint32_t reg)
{
    const auto free = std::find(instruction.sources.begin(), instruction.sources.end(), 0U);
    if (reg != 0 && free != instruction.sources.end()) *free = reg;
}

/// The operands of an x86 instruction: the first one is what is written, unless the instruction only reads.
void read_x86_operands(const cs_insn& insn, Instruction& instruction)
{
    const std::string_view name(insn.mnemonic);
    const cs_x86& detail = insn.detail->x86;
    const bool touches_memory = !x86_ignores_memory(name);
    const X86Writing writing = x86_writing(name);
    std::uint32_t own = 0;
    for (std::size_t i = 0; i < detail.op_count && i < std::size(detail.operands); ++i) {
        const cs_x86_op& operand = detail.operands[i];
        const bool is_first = i == 0;
        if (operand.type == X86_OP_REG) {
            const std::uint32_t reg = general_register(operand.reg);
            if (is_first && writing != X86Writing::kNothing) own = reg;
            if (!is_first || writing == X86Writing::kChanges) add_source(instruction, reg);
        }
        if (operand.type != X86_OP_MEM) continue;
        if (!touches_memory) {
            add_source(instruction, general_register(operand.mem.base));
            add_source(instruction, general_register(operand.mem.index));
            continue;
        }
        const bool is_stored = is_first && writing != X86Writing::kNothing;
        const bool is_loaded = !is_stored || writing == X86Writing::kChanges;
        if (is_loaded) instruction.code.loaded_bytes += operand.size;
        if (is_stored) instruction.code.stored_bytes += operand.size;
        instruction.addressed = {general_register(operand.mem.base), general_register(operand.mem.index)};
        const bool is_of_frame = operand.mem.base == X86_REG_RSP || operand.mem.base == X86_REG_RIP ||
                                 (operand.mem.base == X86_REG_RBP && operand.mem.index == X86_REG_INVALID);
        instruction.result_is_loaded = is_loaded && !is_of_frame;
    }
    instruction.result = own;
    // What computes on two registers has as many bytes in its first operand as in the others.
    const int width = detail.op_count > 0 ? detail.operands[0].size : 0;
    instruction.code.flops = x86_flops(name, width);
    instruction.code.is_packed = x86_is_packed(name);
}

void read_x86(const cs_insn& insn, Instruction& instruction)
{
    const std::string_view name(insn.mnemonic);
    const cs_x86& detail = insn.detail->x86;
    const bool is_locked = detail.prefix[0] == X86_PREFIX_LOCK;
    instruction.code.kind = is_locked ? CodeKind::kAtomic : x86_kind(name);
    read_x86_operands(insn, instruction);
    if (name.find("gather") != std::string_view::npos || name.find("scatter") != std::string_view::npos)
        instruction.code.is_indirect = true;
    instruction.is_call = has_group(insn, X86_GRP_CALL);
    const bool is_branch = has_group(insn, X86_GRP_JUMP) || instruction.is_call;
    // By its number: names have prefixes before them, as in "notrack jmp".
    instruction.ends = has_group(insn, X86_GRP_RET) || insn.id == X86_INS_JMP || name == "hlt" || name == "ud2";
    if (!is_branch) return;
    const bool is_known = detail.op_count > 0 && detail.operands[0].type == X86_OP_IMM;
    instruction.code.kind = is_known ? CodeKind::kBranch : CodeKind::kJump;
    if (is_known) instruction.target = static_cast<std::uint64_t>(detail.operands[0].imm);
}

void read_arm64(const cs_insn& insn, Instruction& instruction)
{
    const std::string_view name(insn.mnemonic);
    const cs_arm64& detail = insn.detail->arm64;
    instruction.code.kind = arm64_kind(name);
    instruction.ends = name == "ret" || name == "br" || name == "b";
    instruction.is_call = name == "bl" || name == "blr";
    const bool stores = name.starts_with("st");
    const bool loads = name.starts_with("ld") || name.starts_with("cas") || name.starts_with("swp");
    int width = 0; // of all registers that are moved
    int lanes = 1;
    for (std::size_t i = 0; i < detail.op_count && i < std::size(detail.operands); ++i) {
        const cs_arm64_op& operand = detail.operands[i];
        if (operand.type == ARM64_OP_REG) {
            const std::uint32_t reg = general_register(operand.reg);
            const bool is_result = i == 0 && !stores && !arm64_only_reads(name);
            if (is_result) instruction.result = reg;
            if (!is_result) add_source(instruction, reg);
            const int operand_bytes = arm64_register_bytes(operand.reg, operand.vas);
            if (i == 0) lanes = arm64_lanes(operand.vas);
            width += operand_bytes;
        }
        if (operand.type == ARM64_OP_MEM) {
            instruction.addressed = {general_register(operand.mem.base), general_register(operand.mem.index)};
            instruction.result_is_loaded = loads && operand.mem.base != ARM64_REG_SP;
        }
        const bool is_branch = instruction.code.kind == CodeKind::kBranch;
        if (operand.type == ARM64_OP_IMM && is_branch) instruction.target = static_cast<std::uint64_t>(operand.imm);
    }
    if (loads) instruction.code.loaded_bytes = arm64_moved_bytes(name, width);
    if (stores) instruction.code.stored_bytes = arm64_moved_bytes(name, width);
    instruction.code.flops = arm64_flops(name, lanes);
    instruction.code.is_packed = lanes > 1;
}

} // namespace

struct Disassembler::State {
    Processor processor{};
    csh handle{};
    bool is_open{};
};

Disassembler::Disassembler(Processor processor) : state_(std::make_unique<State>())
{
    state_->processor = processor;
    const bool is_x86 = processor == Processor::kX86_64;
    state_->is_open = cs_open(is_x86 ? CS_ARCH_X86 : CS_ARCH_ARM64, is_x86 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN,
                              &state_->handle) == CS_ERR_OK;
    if (state_->is_open) cs_option(state_->handle, CS_OPT_DETAIL, CS_OPT_ON);
}

Disassembler::~Disassembler()
{
    if (state_->is_open) cs_close(&state_->handle);
}

std::vector<Instruction> Disassembler::decode(std::string_view code, std::uint64_t address, std::size_t most) const
{
    std::vector<Instruction> instructions;
    if (!state_->is_open) return instructions;
    cs_insn* const insn = cs_malloc(state_->handle);
    if (insn == nullptr) return instructions;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    std::size_t left = code.size();
    while (instructions.size() < most && cs_disasm_iter(state_->handle, &bytes, &left, &address, insn)) {
        Instruction& instruction = instructions.emplace_back();
        instruction.address = insn->address;
        instruction.bytes = insn->size;
        state_->processor == Processor::kX86_64 ? read_x86(*insn, instruction) : read_arm64(*insn, instruction);
    }
    cs_free(insn, 1);
    return instructions;
}

void mark_indirect(std::vector<Instruction>& loop)
{
    std::set<std::uint32_t> loaded;
    // Twice: what the end of one round computes is used at the start of the next.
    for (int round = 0; round < 2; ++round) {
        for (const Instruction& one : loop) {
            const bool is_derived = std::any_of(one.sources.begin(), one.sources.end(),
                                                [&](std::uint32_t reg) { return reg != 0 && loaded.contains(reg); });
            if (one.result != 0 && (one.result_is_loaded || is_derived)) loaded.insert(one.result);
        }
    }
    for (Instruction& one : loop) {
        one.code.is_indirect =
            one.code.is_indirect || std::any_of(one.addressed.begin(), one.addressed.end(),
                                                [&](std::uint32_t reg) { return reg != 0 && loaded.contains(reg); });
    }
}

} // namespace fathom::profile
