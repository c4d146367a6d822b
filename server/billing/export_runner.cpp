#include "server/billing/export_runner.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/secret.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/billing/export_calendar.hpp"
#include "core/model/data_location.hpp"
#include "server/billing/export_writer.hpp"
#include "server/billing/ledger_store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 5s;
constexpr auto kClaim = 90s;
constexpr auto kClaimEvery = 20s;
constexpr std::size_t kMaxErrorBytes = 2000;

/// Ends keep_claim() however the run ends.
class RunMark {
  public:
    RunMark() = default;
    ~RunMark() { *has_ended_ = true; }
    RunMark(const RunMark&) = delete;
    RunMark& operator=(const RunMark&) = delete;
    std::shared_ptr<const std::atomic<bool>> has_ended() const { return has_ended_; }

  private:
    std::shared_ptr<std::atomic<bool>> has_ended_ = std::make_shared<std::atomic<bool>>(false);
};

Result<void> upload_with_manifest(const ObjectStoreAccess& store, ObjectUpload object, const Json& manifest,
                                  const std::function<bool()>& should_stop)
{
    std::rewind(object.content);
    object.size_bytes = manifest["bytes"].get<std::int64_t>();
    object.sha256 = manifest["sha256"].get<std::string>();
    if (Result<void> sent = put_object(store, object, should_stop); !sent) return sent;
    // Last: whoever finds it finds the whole file, too.
    std::string text = manifest.dump(2) + "\n";
    const File memory(::fmemopen(text.data(), text.size(), "r"), &std::fclose);
    if (!memory) return Error{Errc::kUnavailable, "no memory for the manifest"};
    return put_object(store,
                      {.bucket = object.bucket,
                       .key = manifest_name(object.key),
                       .content_type = "application/json",
                       .content = memory.get(),
                       .size_bytes = static_cast<std::int64_t>(text.size()),
                       .sha256 = sha256_hex(text)},
                      should_stop);
}

} // namespace

ExportRunner::ExportRunner(Database& database, ComputePool& compute, ExportPlaces places, std::string network,
                           const Clock& clock, Metrics& metrics)
    : database_(&database), compute_(&compute), places_(std::move(places)), network_(std::move(network)),
      clock_(&clock), runs_(metrics.counter("fathom_scheduled_exports_total", "Scheduled exports that were written.")),
      failures_(metrics.counter("fathom_scheduled_export_failures_total",
                                "Runs of scheduled exports that failed; each is tried again."))
{
}

ExportRunner::~ExportRunner()
{
    is_stopping_ = true;
    blocking_.join();
}

void ExportRunner::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group_ = &group;
    executor_ = executor;
    group.keep_running(executor, "scheduled_exports", [this] { return follow(); });
}

asio::awaitable<void> ExportRunner::follow()
{
    for (;;) {
        co_await net::TaskGroup::sleep(kLookEvery);
        Result<bool> ran = true;
        while (ran && *ran)
            ran = co_await run_next();
        if (!ran) log_warning("scheduled_exports_failed", {{"error", describe(ran.error())}});
    }
}

asio::awaitable<void> ExportRunner::keep_claim(ExportScheduleId id, std::shared_ptr<const std::atomic<bool>> has_ended)
{
    for (;;) {
        co_await net::TaskGroup::sleep(kClaimEvery);
        if (*has_ended) co_return;
        auto extend = [&, until = clock_->now() + kClaim](pqxx::work& transaction) -> Result<void> {
            extend_export_claim(transaction, id, until);
            return {};
        };
        const Result<void> extended = co_await database_->run(std::move(extend));
        if (!extended) log_debug("export_claim_not_extended", {{"schedule_id", id.value}});
    }
}

asio::awaitable<Result<bool>> ExportRunner::run_next()
{
    const Timestamp now = clock_->now();
    auto claim = [now](pqxx::work& transaction) -> Result<std::optional<ExportSchedule>> {
        return claim_export_schedule(transaction, now, now + kClaim);
    };
    const Result<std::optional<ExportSchedule>> claimed = co_await database_->run(std::move(claim));
    if (!claimed) co_return claimed.error();
    if (!*claimed) co_return false;
    const ExportSchedule& schedule = **claimed;
    const RunMark mark;
    if (group_ != nullptr) group_->spawn(executor_, "export_claim", keep_claim(schedule.id, mark.has_ended()));
    const Result<ExportRun> ran = co_await run(schedule);
    if (!ran) co_return ran.error();
    auto finish = [&](pqxx::work& transaction) -> Result<void> {
        finish_export_run(transaction, schedule, *ran);
        return {};
    };
    const Result<void> finished = co_await database_->run(std::move(finish));
    if (!finished) co_return finished.error();
    co_return true;
}

asio::awaitable<Result<ExportRun>> ExportRunner::run(ExportSchedule schedule)
{
    const Result<CronSchedule> cron = parse_cron(schedule.cron); // it was read when it was stored
    if (!cron) co_return cron.error();
    const Timestamp due = schedule.due_at.value_or(clock_->now());
    Result<std::string> file = std::string();
    Result<ScheduledExport> wanted = scheduled_export(schedule, due);
    if (wanted)
        file = co_await write(schedule, std::move(*wanted));
    else
        file = wanted.error();
    ExportRun run{.ran_at = clock_->now(), .due_at = due};
    if (file) {
        run.file = *file;
        run.due_at = next_export(*cron, parse_export_months(schedule.months).value(), due, run.ran_at);
        run.next_run_at = run.due_at;
        runs_.add();
        log_info("export_written", {{"schedule", schedule.name}, {"schedule_id", schedule.id.value}, {"file", *file}});
    } else {
        run.error = utf8_prefix(describe(file.error()), kMaxErrorBytes);
        run.next_run_at = export_retry(schedule.failures + 1, run.ran_at);
        failures_.add();
        log_warning("export_failed", {{"schedule", schedule.name},
                                      {"schedule_id", schedule.id.value},
                                      {"failures", schedule.failures + 1},
                                      {"next_run_at", format_rfc3339(run.next_run_at)},
                                      {"error", run.error}});
    }
    co_return run;
}

asio::awaitable<Result<std::string>> ExportRunner::write(const ExportSchedule& schedule, ScheduledExport wanted)
{
    const Result<ExportDestination> destination = parse_export_destination(schedule.destination, places_);
    if (!destination) co_return destination.error();
    wanted.request.focus.network = network_;
    Result<ExportRequest> settled = co_await settle_export(*database_, std::move(wanted.request));
    if (!settled) co_return settled.error();
    wanted.request = std::move(*settled);
    if (destination->is_folder) co_return co_await write_to_folder(schedule, std::move(wanted));
    co_return co_await write_to_store(schedule, std::move(wanted), *destination);
}

asio::awaitable<Result<Json>> ExportRunner::fill(const ExportSchedule& schedule, const ScheduledExport& wanted,
                                                 std::FILE* file)
{
    const auto writer = std::make_shared<ExportWriter>(file, *compute_);
    std::string failure;
    try {
        co_await stream_export(*database_, *compute_, wanted.request, writer);
    } catch (const boost::system::system_error&) {
        throw; // it is being stopped
    } catch (const std::runtime_error& error) {
        failure = error.what(); // the database's, in words
    }
    if (!failure.empty()) co_return Error{Errc::kUnavailable, failure};
    if (const Result<void> finished = writer->finish(); !finished) co_return finished.error();
    ExportFile exported{.name = wanted.file_name, .format = schedule.format};
    for (const auto& [name, value] : wanted.parameters)
        exported.parameters[name] = value;
    if (is_of_ledger(wanted.request.format))
        exported.parameters["last_entry"] = std::to_string(wanted.request.charges.last_seq);
    exported.size_bytes = writer->size_bytes();
    exported.sha256 = writer->sha256();
    exported.written_at = clock_->now();
    Json manifest = export_manifest(exported);
    manifest["schedule"] = schedule.name;
    if (wanted.period.empty()) co_return manifest;
    auto look = [&](pqxx::work& transaction) -> Result<bool> {
        return select_closed_periods(transaction).contains(wanted.period);
    };
    const Result<bool> is_closed = co_await database_->run(std::move(look));
    if (!is_closed) co_return is_closed.error();
    // An open month may grow: the same export later may have more.
    manifest["period_state"] = *is_closed ? "closed" : "open";
    co_return manifest;
}

template <class Work>
asio::awaitable<Result<void>> ExportRunner::block(Work work)
{
    const auto run = [](Work own) -> asio::awaitable<Result<void>> { co_return own(); };
    co_return co_await asio::co_spawn(blocking_.get_executor(), run(std::move(work)), asio::use_awaitable);
}

asio::awaitable<Result<std::string>> ExportRunner::write_to_folder(const ExportSchedule& schedule,
                                                                   ScheduledExport wanted)
{
    const std::filesystem::path path = places_.folder / schedule.name / wanted.file_name;
    const Result<std::unique_ptr<PartialFile>> file = PartialFile::open(path);
    if (!file) co_return file.error();
    const Result<Json> manifest = co_await fill(schedule, wanted, (*file)->file());
    if (!manifest) co_return manifest.error();
    auto complete = [&]() -> Result<void> {
        if (Result<void> done = (*file)->complete(); !done) return done;
        return write_file(path.parent_path() / manifest_name(wanted.file_name), manifest->dump(2) + "\n",
                          PartialFile::kMode);
    };
    const Result<void> completed = co_await block(complete);
    if (!completed) co_return completed.error();
    co_return path.string();
}

asio::awaitable<Result<std::string>> ExportRunner::write_to_store(const ExportSchedule& schedule,
                                                                  ScheduledExport wanted, ExportDestination destination)
{
    const Result<File> file = open_scratch_file(places_.scratch);
    if (!file) co_return file.error();
    const Result<Json> manifest = co_await fill(schedule, wanted, file->get());
    if (!manifest) co_return manifest.error();
    const std::string key = destination.prefix + schedule.name + "/" + wanted.file_name;
    auto upload = [&]() -> Result<void> {
        ObjectUpload object{.bucket = destination.bucket,
                            .key = key,
                            .content_type = content_type_of(wanted.request.format),
                            .content = file->get()};
        return upload_with_manifest(places_.store, std::move(object), *manifest,
                                    [this] { return is_stopping_.load(); });
    };
    const Result<void> sent = co_await block(upload);
    if (!sent) co_return sent.error();
    co_return std::string(kObjectScheme) + destination.bucket + "/" + key;
}

} // namespace fathom::server
