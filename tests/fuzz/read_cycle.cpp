#include "core/schedule/cycle_replay.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using namespace fathom;

/// Few enough to decide on within the time of one input.
constexpr std::size_t kMaxDecided = 8;

UnitTypeView unit_type(const std::string& name)
{
    UnitTypeView view;
    view.id.value = "ut_" + name;
    view.name = view.center_name = name;
    view.center_id.value = "ctr_" + name;
    view.resource_type = "cpu";
    view.unit_count = 2;
    view.availability = Availability(2);
    view.operators = {"dgemm"};
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=64";
    one.operations = one.median_s = one.ci_low_s = one.ci_high_s = 1;
    view.measured = {one};
    return view;
}

CycleMoment some_moment()
{
    CycleMoment moment;
    ReadyJob job;
    job.id = "job_1";
    job.kind = "0";
    job.request.operators = {{.operator_id = "dgemm", .parameters_key = "n=64", .count = 3, .operations = 1}};
    moment.input.jobs = {job};
    return moment;
}

/// A cycle that was taken can be decided on, and stays what it is when it is written.
void check_cycle(std::string_view bytes)
{
    const Result<CycleMoment> moment = read_cycle(bytes);
    if (!moment) return fuzz::check_refusal(moment.error());
    const std::string written = write_cycle(*moment);
    const Result<CycleMoment> again = read_cycle(written);
    FATHOM_ASSERT(again.has_value() && write_cycle(*again) == written);
    if (moment->input.jobs.size() > kMaxDecided) return;
    const CycleCatalog catalog{{unit_type("alpha"), unit_type("beta")}, {}};
    const SchedulePlan plan = decide_cycle(*moment, catalog);
    FATHOM_ASSERT(plan.starts.size() + plan.waits.size() == moment->input.jobs.size());
    FATHOM_ASSERT(read_plan(write_plan(record_of(plan))).has_value());
}

/// The parts stand one after another, each behind its length in two bytes.
void check_catalog(std::string_view bytes)
{
    std::vector<std::string> parts;
    while (bytes.size() >= 2) {
        const std::size_t length = static_cast<unsigned char>(bytes[0]) + 256U * static_cast<unsigned char>(bytes[1]);
        parts.emplace_back(bytes.substr(2, length));
        bytes.remove_prefix(std::min(bytes.size(), 2 + length));
    }
    const Result<CycleCatalog> catalog = read_catalog(parts);
    if (!catalog) return fuzz::check_refusal(catalog.error());
    const auto written = [](const CycleCatalog& one) {
        std::vector<std::string> all;
        write_catalog(one.unit_types, one.knowledge, one.loads ? *one.loads : UnitTypeLoads(),
                      [&](std::string part) { all.push_back(std::move(part)); });
        return all;
    };
    const std::vector<std::string> all = written(*catalog);
    const Result<CycleCatalog> again = read_catalog(all);
    FATHOM_ASSERT(again.has_value() && written(*again) == all);
    if (catalog->unit_types.size() <= kMaxDecided) decide_cycle(some_moment(), *catalog);
}

void check_plan(std::string_view bytes)
{
    const Result<PlanRecord> plan = read_plan(bytes);
    if (!plan) return fuzz::check_refusal(plan.error());
    const std::string written = write_plan(*plan);
    const Result<PlanRecord> again = read_plan(written);
    FATHOM_ASSERT(again.has_value() && write_plan(*again) == written);
    FATHOM_ASSERT(plan_differences(*plan, *again, {}, {}).empty());
}

} // namespace

/// Whatever is stored as a cycle, its catalog or its plan: it is read as what it says, and can be decided again, or is
/// refused. The first byte chooses the reader.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::string_view bytes = fathom::fuzz::text_of(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0:
        check_cycle(bytes);
        break;
    case 1:
        check_catalog(bytes);
        break;
    default:
        check_plan(bytes);
    }
    return 0;
}
