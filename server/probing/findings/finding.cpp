#include "server/probing/findings/finding.hpp"

namespace fathom::server {

std::string_view to_string(FindingKind kind)
{
    switch (kind) {
    case FindingKind::kChecksum:
        return "checksum";
    case FindingKind::kClock:
        return "clock";
    case FindingKind::kRate:
        return "rate";
    case FindingKind::kVersion:
        return "version";
    case FindingKind::kWrongResult:
        return "wrong_result";
    case FindingKind::kNonsense:
        return "nonsense";
    case FindingKind::kDoubled:
        return "doubled";
    case FindingKind::kLate:
        return "late";
    }
    return "nonsense";
}

bool costs_trust(FindingKind kind)
{
    return kind == FindingKind::kChecksum || kind == FindingKind::kClock || kind == FindingKind::kRate;
}

} // namespace fathom::server
