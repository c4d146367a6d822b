#pragma once

#include "core/schedule/byte_archive.hpp"

#include <string>
#include <vector>

namespace fathom::test {

/// A cycle, the catalog that it was decided on, and the plan that was made of it, as documents.
struct RecordedCycle {
    std::string cycle;
    std::string plan;
    std::vector<std::string> parts;
};

template <class Archive, FieldsOf<RecordedCycle> T>
void fields(Archive& archive, T& recorded)
{
    archive.text(recorded.cycle);
    archive.text(recorded.plan);
    text_fields(archive, recorded.parts);
}

} // namespace fathom::test
