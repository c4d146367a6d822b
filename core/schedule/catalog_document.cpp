#include "core/schedule/catalog_document.hpp"

#include "core/schedule/cycle_fields.hpp"
#include "core/schedule/document_head.hpp"
#include "core/schedule/unit_types_document.hpp"

namespace fathom {
namespace {

using cycle::fields;

// As cycle::all_fields.
[[maybe_unused]] void know(const RouteKnowledge& knowledge)
{
    [[maybe_unused]] const auto& [f1, f2, f3] = knowledge;
}

// What was learned.

/// Runs of so long share a part: with each new one only the last part is another.
using TimeOfPart = std::chrono::duration<std::int64_t, std::ratio<6 * 3600>>;

std::string write_runs(std::span<const PastRun> runs, Timestamp learned_at)
{
    ByteWriter writer;
    head_fields(writer, DocumentKind::kRuns);
    writer.moment(learned_at);
    list_fields(writer, runs, [&](const PastRun& run) { fields(writer, run); });
    return writer.take();
}

/// The parts of runs that came one after another keep their order. When it was learned stands in the first, which is
/// empty beside.
void write_history(const RunHistory& history, const std::function<void(std::string)>& keep)
{
    keep(write_runs({}, history.learned_at()));
    const std::span<const PastRun> runs = history.runs();
    const auto time_of = [](const PastRun& run) { return std::chrono::floor<TimeOfPart>(run.ended_at); };
    for (std::size_t first = 0; first < runs.size();) {
        std::size_t last = first + 1;
        while (last < runs.size() && time_of(runs[last]) == time_of(runs[first]))
            ++last;
        keep(write_runs(runs.subspan(first, last - first), {}));
        first = last;
    }
}

struct LearnedRuns {
    bool is_there{};
    Timestamp learned_at{};
    std::vector<PastRun> runs;
};

Result<void> read_runs(std::string_view document, LearnedRuns& learned)
{
    ByteReader reader(document);
    head_fields(reader, DocumentKind::kRuns);
    Timestamp learned_at;
    reader.moment(learned_at);
    if (!learned.is_there) learned.learned_at = learned_at;
    learned.is_there = true;
    std::vector<PastRun> runs;
    list_fields(reader, runs, [&](PastRun& run) { fields(reader, run); });
    learned.runs.insert(learned.runs.end(), std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()));
    return reader.finish("a part of a catalog");
}

template <class Archive, class Models, class Common>
void wait_fields(Archive& archive, Models& by_unit_type, Common& common)
{
    head_fields(archive, DocumentKind::kWaits);
    fields(archive, common);
    map_fields(archive, by_unit_type, [&](auto& model) { fields(archive, model); });
}

template <class Archive, FieldsOf<OperatorEstimateTable> T>
void estimate_fields(Archive& archive, T& table)
{
    head_fields(archive, DocumentKind::kEstimates);
    list_fields(archive, table.rows, [&](auto& row) {
        archive.text(row.first);
        archive.text(row.second);
    });
    text_fields(archive, table.columns);
    for (auto* parts : {&table.fit.rows, &table.fit.columns})
        list_fields(archive, *parts, [&](auto& part) { fields(archive, part); });
    list_fields(archive, table.deviations, [&](auto& deviation) { archive.real(deviation, NumberRange::kAmount); });
    for (auto* sets : {&table.like, &table.measured_at}) {
        list_fields(archive, *sets, [&](auto& set) {
            for (auto& word : set)
                archive.number(word);
        });
    }
    const std::size_t rows = table.rows.size();
    const std::size_t columns = table.columns.size();
    archive.expect(rows <= kMaxEstimateRows && table.fit.rows.size() == rows && table.deviations.size() == rows &&
                       table.like.size() == rows && table.fit.columns.size() == columns &&
                       table.measured_at.size() == columns && std::is_sorted(table.rows.begin(), table.rows.end()) &&
                       std::is_sorted(table.columns.begin(), table.columns.end()),
                   "the table of estimates is broken");
}

/// What kind of document it seems to be; its reader tells whether it is.
DocumentKind kind_of(std::string_view document)
{
    ByteReader reader(document);
    reader.number();
    DocumentKind kind{};
    reader.choice(kind, DocumentKind::kLoads);
    return kind;
}

/// A catalog that is being read.
struct CatalogReading {
    CycleCatalog catalog;
    LearnedRuns learned;
    bool has_states{};
    std::uint64_t version{}; ///< of the states

    Result<void> read(std::string_view part)
    {
        ByteReader reader(part);
        switch (kind_of(part)) {
        case DocumentKind::kRuns:
            return read_runs(part, learned);
        case DocumentKind::kStates:
            read_unit_states(reader, catalog.unit_types);
            has_states = true;
            version = reader.version();
            break;
        case DocumentKind::kWaits: {
            std::map<std::string, WaitModel, std::less<>> by_unit_type;
            WaitModel common;
            wait_fields(reader, by_unit_type, common);
            catalog.knowledge.waits =
                std::make_shared<const WaitHistory>(WaitHistory::from(std::move(by_unit_type), common));
            break;
        }
        case DocumentKind::kEstimates: {
            OperatorEstimateTable table;
            estimate_fields(reader, table);
            if (reader.is_good())
                catalog.knowledge.estimates = std::make_shared<const OperatorEstimates>(OperatorEstimates::from(table));
            break;
        }
        case DocumentKind::kLoads: {
            const auto loads = std::make_shared<UnitTypeLoads>();
            head_fields(reader, DocumentKind::kLoads);
            fields(reader, *loads);
            catalog.loads = loads;
            break;
        }
        case DocumentKind::kUnitTypes:
        case DocumentKind::kCycle:
            reader.expect(!has_states, "unit types stand behind their states");
            read_unit_types(reader, catalog.unit_types);
        }
        return reader.finish("a part of a catalog");
    }
};

} // namespace

void write_catalog(std::span<const UnitTypeView> unit_types, const RouteKnowledge& knowledge,
                   const UnitTypeLoads& loads, const std::function<void(std::string)>& keep)
{
    write_unit_types(unit_types, keep);
    write_knowledge(knowledge, keep);
    write_loads(loads, keep);
}

void write_knowledge(const RouteKnowledge& knowledge, const std::function<void(std::string)>& keep)
{
    if (knowledge.runs) write_history(*knowledge.runs, keep);
    if (knowledge.waits) {
        ByteWriter writer;
        wait_fields(writer, knowledge.waits->by_unit_type(), knowledge.waits->common());
        keep(writer.take());
    }
    if (knowledge.estimates) {
        ByteWriter writer;
        const OperatorEstimateTable table = knowledge.estimates->table();
        estimate_fields(writer, table);
        keep(writer.take());
    }
}

void write_loads(const UnitTypeLoads& loads, const std::function<void(std::string)>& keep)
{
    ByteWriter writer;
    head_fields(writer, DocumentKind::kLoads);
    fields(writer, loads);
    keep(writer.take());
}

Result<CycleCatalog> read_catalog(std::span<const std::string> parts)
{
    CatalogReading reading;
    for (const std::string& part : parts) {
        if (const Result<void> read = reading.read(part); !read) return read.error();
    }
    const bool has_loads = reading.catalog.loads != nullptr || reading.version < kLoadsInCatalogVersion;
    if (!reading.has_states || !has_loads)
        return Error{Errc::kInvalid, "a catalog cannot be read: a part of it is missing"};
    if (reading.learned.is_there)
        reading.catalog.knowledge.runs =
            std::make_shared<const RunHistory>(reading.learned.runs, reading.learned.learned_at);
    return std::move(reading.catalog);
}

} // namespace fathom
