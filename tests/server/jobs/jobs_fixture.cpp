#include "tests/server/jobs/jobs_fixture.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kDgemm = R"json({
  "id": "dgemm", "version": 1, "category": "hpc", "description": "C = A*B",
  "parameters": [{"name": "m", "min": 1, "max": 32768, "default": 1024, "description": "rows"},
                 {"name": "n", "min": 1, "max": 32768, "default": 1024, "description": "columns"},
                 {"name": "k", "min": 1, "max": 32768, "default": 1024, "description": "depth"}],
  "inputs": ["A", "B"], "outputs": ["C"], "operation_count": "2*m*n*k", "byte_count": "8*(m*k+k*n+m*n)",
  "truth": "known", "tolerance": 1e-12, "precision": "fp64",
  "implementations": [{"resource_type": "cpu", "library": "openblas"}],
  "signature": {"symbols": ["dgemm_"], "argument_kinds": ["matrix_fp64"]}})json";

std::string quoted(const std::string& text)
{
    return "'" + text + "'";
}

} // namespace

Result<RequestedProbes> FakeProbing::request_probes(pqxx::work&, const std::string&, const std::vector<OperatorUse>&,
                                                    const std::vector<UnitTypeId>& unit_types)
{
    const std::scoped_lock lock(mutex);
    RequestedProbes probes;
    probes.obstacle = obstacle;
    for (const UnitTypeId& unit_type : unit_types) {
        requested.push_back(unit_type.value);
        if (obstacle.empty()) probes.runs.push_back(ProbeRunId::make());
    }
    return probes;
}

Result<ProbeProgress> FakeProbing::probe_progress(pqxx::work&, const std::string&)
{
    const std::scoped_lock lock(mutex);
    return ProbeProgress{pending, pending ? std::string() : refusal};
}

Result<ProbeTaskId> FakeProbing::keep_learned_task(pqxx::work& transaction, const LearnedTask& task)
{
    const std::scoped_lock lock(mutex);
    learned.push_back(task);
    const ProbeTaskId id = ProbeTaskId::make();
    transaction.exec_params0(
        "INSERT INTO probe_task (id, name, job_type, origin, document, document_sha256, created_by) "
        "VALUES ($1, 't', $2, 'job', '{}', $1, 'x')",
        id.value, task.job_type);
    return id;
}

void FakeProbing::probe_job_started(pqxx::work& transaction, const JobId& job,
                                    const std::vector<std::string>& able_unit_types)
{
    static_cast<void>(transaction);
    static_cast<void>(job);
    const std::scoped_lock lock(mutex);
    able = able_unit_types;
}

Result<void> FakeProbing::probe_job_ended(pqxx::work&, const EndedProbeJob& end)
{
    const std::scoped_lock lock(mutex);
    ended.push_back(end);
    return {};
}

Result<void> FakeProbing::probe_job_reported_late(pqxx::work&, const EndedProbeJob& end)
{
    const std::scoped_lock lock(mutex);
    late.push_back(end);
    return {};
}

asio::awaitable<Result<void>> report(AttemptGateway& gateway, Reporter reporter, AttemptReport one)
{
    std::vector<AttemptReport> reports;
    reports.push_back(std::move(one));
    const std::vector<Result<void>> taken = co_await gateway.take_reports(std::move(reporter), std::move(reports));
    co_return taken.front();
}

JobsFixture::JobsFixture()
    : url_(test::migrated_database()), database_({.url = url_, .connections = 6}, metrics_), notifier_(url_),
      finalizer_(probing_, metrics_), catalog_(database_, io_.executor(), metrics_), learning_(catalog_, probing_),
      job_types_(database_, catalog_), projects_(database_), project_members_(database_),
      events_(database_, io_.executor(), metrics_),
      jobs_({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_}),
      attempts_({database_, io_.executor(), metrics_, catalog_, finalizer_, clock_}),
      unit_loads_(database_, catalog_, compute_, clock_),
      routing_(io_.executor(), {database_, metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_},
               {.replica = ReplicaId::make()}),
      placements_(database_, catalog_, clock_, compute_), periodic_tasks_(database_, io_.executor(), metrics_, clock_),
      identity_(database_, notifier_, clock_, metrics_), api_(router_, identity_)
{
    add_jobs_routes(api_, jobs_, database_);
    add_job_types_routes(api_, job_types_);
    add_projects_routes(api_, projects_);
    add_project_members_routes(api_, project_members_);
    add_events_routes(api_, events_);
    add_placement_routes(api_, placements_);
    admin_ = add_token("admin", Role::kAdmin);
}

JobsFixture::~JobsFixture()
{
    tasks_.close();
    tasks_.wait(std::chrono::seconds(60));
    notifier_.stop();
    database_.stop();
}

void JobsFixture::count_sequential_scans() const
{
    sql("ALTER DATABASE " + sql("SELECT current_database()") + " SET enable_seqscan = off");
    const std::string backend = sql("SELECT pg_backend_pid()");
    test::close_connection();
    // What it scanned before comes with its end.
    ASSERT_TRUE(
        test::eventually([&] { return sql("SELECT count(*) FROM pg_stat_activity WHERE pid = " + backend) == "0"; }));
    sql("SELECT pg_stat_reset()");
}

std::string JobsFixture::add_center(const std::string& name, std::int64_t units, const std::string& unit_type)
{
    const std::string center = CenterId::make().value;
    const std::string id = UnitTypeId::make().value;
    sql("INSERT INTO center (id, name, state, last_seen_at) VALUES (" + quoted(center) + "," + quoted(name) +
        ", 'online', now())");
    sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
        "memory_bytes_per_unit, operators) VALUES (" +
        quoted(id) + "," + quoted(center) + "," + quoted(unit_type) + ", 'cpu', " + std::to_string(units) +
        ", 1, 0, '{fft1d,dgemm}')");
    reload_catalog();
    return id;
}

std::string JobsFixture::center_id(const std::string& name) const
{
    return sql("SELECT id FROM center WHERE name = " + quoted(name));
}

void JobsFixture::add_operators()
{
    sql("INSERT INTO operator (id, version, manifest) VALUES ('dgemm', 1, '" + std::string(kDgemm) + "')");
    reload_catalog();
}

void JobsFixture::add_measurement(const std::string& unit_type_id, double median_s, const std::string& at,
                                  std::int64_t unit_count)
{
    insert_measurement(unit_type_id, "'dgemm', 'k=1024,m=1024,n=1024', 2147483648, 25165824", median_s, at, unit_count);
    reload_catalog();
}

void JobsFixture::add_transfer(const std::string& unit_type_id, double median_s, const std::string& at)
{
    insert_measurement(unit_type_id, "'network_fetch', 'bytes=1000000', 0, 1000000", median_s, at, 1);
}

void JobsFixture::insert_measurement(const std::string& unit_type_id, const std::string& values, double median_s,
                                     const std::string& at, std::int64_t unit_count)
{
    const std::string run = ProbeRunId::make().value;
    const std::string task = ProbeTaskId::make().value;
    const std::string job = JobId::make().value;
    const std::string median = std::to_string(median_s);
    sql("INSERT INTO job (id, label, name, project, spec, state, submitted_by) VALUES (" + quoted(job) +
        ", 'probe', 'p', 'd', '{}', 'succeeded', 'x')");
    sql("INSERT INTO probe_task (id, name, origin, document, document_sha256, created_by) VALUES (" + quoted(task) +
        ", 't', 'default', '{}', " + quoted(task) + ", 'x')");
    sql("INSERT INTO probe_run (id, probe_task_id, center_id, unit_type_id, unit_count, selection, cause, job_id, "
        "state, created_by) SELECT " +
        quoted(run) + "," + quoted(task) + ", center_id, id, " + std::to_string(unit_count) +
        ", 'catalog', 'command', " + quoted(job) +
        ", 'succeeded', 'x' FROM unit_type WHERE id = " + quoted(unit_type_id));
    sql("INSERT INTO measurement (probe_run_id, operator_id, parameters_key, operations, bytes, operator_version, "
        "parameters, unit_type_id, unit_count, median_s, ci_low_s, ci_high_s, spread, sample_count, outlier_count, "
        "error, tolerance, precision, library, checksum, start_up_s, measured_at) VALUES (" +
        quoted(run) + ", " + values + ", 1, '{}', " + quoted(unit_type_id) + ", " + std::to_string(unit_count) + ", " +
        median + "," + median + "," + median + ", 0, 7, 0, 0, 1e-12, 'fp64', 'x', 'x', 0.1, " + at + ")");
}

Principal JobsFixture::add_token(const std::string& name, Role role)
{
    const TokenId id = TokenId::make();
    secrets_[name] = new_secret(kApiSecretPrefix);
    sql("INSERT INTO api_token (id, name, secret_sha256, role, created_by) VALUES (" + quoted(id.value) + "," +
        quoted(name) + "," + quoted(sha256_hex(secrets_[name])) + "," + quoted(std::string(to_string(role))) +
        ", 'test')");
    return {id, name, role};
}

Json JobsFixture::spec(Json more)
{
    Json json = {{"command", {"true"}}};
    json.update(more);
    return json;
}

JobId JobsFixture::submit(const Json& body, const Principal& who)
{
    Result<SubmitRequest> request = parse_submit_request(body);
    Result<std::vector<AdmittedJob>> specs =
        run(jobs_.admit(std::move(request.value().specs), JobsService::Batch::kOne, who));
    return run(jobs_.submit(specs.value().front(), who.token_id.value)).value().id;
}

void JobsFixture::route()
{
    while (run(routing_.run_cycle(RoutingService::Wake::kTick)).value() > 0) {
    }
}

std::string JobsFixture::state_of(const JobId& job) const
{
    return sql("SELECT state FROM job WHERE id = " + quoted(job.value));
}

AttemptId JobsFixture::attempt_of(const JobId& job) const
{
    return {sql("SELECT id FROM attempt WHERE job_id = " + quoted(job.value) + " ORDER BY epoch DESC LIMIT 1")};
}

CenterId JobsFixture::center_of(const JobId& job) const
{
    return {sql("SELECT center_id FROM attempt WHERE job_id = " + quoted(job.value) + " ORDER BY epoch DESC LIMIT 1")};
}

std::vector<std::string> JobsFixture::events_of(const JobId& job) const
{
    const Json states =
        Json::parse(sql("SELECT coalesce(jsonb_agg(state ORDER BY id), '[]')::text FROM job_event WHERE job_id = " +
                        quoted(job.value)));
    return states.get<std::vector<std::string>>();
}

JobId JobsFixture::job_in(const std::string& state)
{
    const JobId job = submit();
    if (state == "queued") return job;
    route();
    if (state == "placed") return job;
    const CenterId center = center_of(job);
    orders_for(center);
    if (state == "sent") return job;
    EXPECT_TRUE(run(report(attempts_, center, StartAcknowledged{attempt_of(job)})));
    if (state == "dispatched") return job;
    EXPECT_TRUE(report_start(job));
    if (state == "running") return job;
    if (state == "lost") {
        sql("UPDATE center SET state = 'lost' WHERE id = " + quoted(center.value));
        EXPECT_EQ(run(periodic_tasks_.follow_centers()).value(), 1);
    }
    return job;
}

std::vector<link::Body> JobsFixture::orders_for(const CenterId& center, std::int64_t room_bytes)
{
    Result<AttemptGateway::PendingOrders> pending = run(attempts_.pending_orders(center, {}, room_bytes));
    EXPECT_TRUE(pending) << describe(pending.error());
    return pending ? std::move(pending->bodies) : std::vector<link::Body>();
}

Result<void> JobsFixture::report_start(const JobId& job)
{
    link::AttemptStarted started;
    started.attempt_id = attempt_of(job);
    started.started_at = clock_.now();
    started.cpus = {0, 1};
    started.units = {0};
    return run(report(attempts_, center_of(job), started));
}

AttemptEnd JobsFixture::exited(std::int64_t code)
{
    AttemptEnd end;
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = code;
    end.started_at = SystemClock().now();
    end.run_s = 1.5;
    return end;
}

Result<void> JobsFixture::report_end(const JobId& job, AttemptEnd end)
{
    end.attempt_id = attempt_of(job);
    end.ended_at = clock_.now();
    // Tests do not wait as long as their jobs ran.
    const std::string ran = "make_interval(secs => " + std::to_string(end.run_s) + ")";
    sql("UPDATE attempt SET created_at = created_at - " + ran + ", dispatched_at = dispatched_at - " + ran +
        " WHERE id = '" + end.attempt_id.value + "'");
    return run(report(attempts_, center_of(job), link::AttemptEnded{end}));
}

Result<void> JobsFixture::write_output(const JobId& job, std::int64_t offset, std::string data,
                                       const std::string& stream)
{
    link::AttemptOutput output;
    output.attempt_id = attempt_of(job);
    output.stream = stream;
    output.offset_bytes = offset;
    output.data = std::move(data);
    return run(attempts_.attempt_output(center_of(job), std::move(output)));
}

net::Response JobsFixture::call(net::Method method, const std::string& target, const std::string& body,
                                const net::Headers& headers, const std::string& user)
{
    net::Request request;
    request.method = method;
    request.target = "/api/v1" + target;
    const std::size_t question = request.target.find('?');
    request.path = request.target.substr(0, question);
    if (question != std::string::npos) {
        std::string query = request.target.substr(question + 1);
        for (std::size_t begin = 0; begin < query.size();) {
            const std::size_t end = std::min(query.find('&', begin), query.size());
            const std::string pair = query.substr(begin, end - begin);
            request.query[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
            begin = end + 1;
        }
    }
    request.headers = headers;
    request.headers["Authorization"] = "Bearer " + secrets_.at(user);
    request.remote_address = "127.0.0.1:1";
    request.request_id = RequestId::make().value;
    request.body = body;
    net::Router::Match match = router_.match(method, request.path, false);
    const auto& http = std::get<net::Router::Http>(match);
    request.path_params = http.path_params;
    return run((*http.handler)(std::move(request)));
}

asio::awaitable<Result<void>> FakeWriter::write(std::string chunk)
{
    const std::scoped_lock lock(mutex_);
    if (gone_) co_return Error(Errc::kUnavailable, "gone");
    text_ += chunk;
    co_return Result<void>();
}

asio::awaitable<Result<void>> FakeWriter::sleep(std::chrono::milliseconds duration)
{
    // Faster than life, so that tests need not wait for polls.
    asio::steady_timer timer(co_await asio::this_coro::executor, std::min(duration, std::chrono::milliseconds(10)));
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    const std::scoped_lock lock(mutex_);
    pauses_.push_back(duration);
    if (gone_) co_return Error(Errc::kUnavailable, "gone");
    co_return Result<void>();
}

std::string FakeWriter::text() const
{
    const std::scoped_lock lock(mutex_);
    return text_;
}

std::vector<std::chrono::milliseconds> FakeWriter::pauses() const
{
    const std::scoped_lock lock(mutex_);
    return pauses_;
}

void FakeWriter::hang_up()
{
    const std::scoped_lock lock(mutex_);
    gone_ = true;
}

} // namespace fathom::server
