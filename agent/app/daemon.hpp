#pragma once

#include "agent/app/gpu_memory_start.hpp"
#include "agent/app/job_executor.hpp"
#include "agent/app/probe_request.hpp"
#include "agent/app/resource_keeper.hpp"
#include "agent/app/sub_unit_keeper.hpp"
#include "agent/balance/balance_feed.hpp"
#include "agent/catalog/catalog.hpp"
#include "agent/config/agent_config.hpp"
#include "agent/executor/remote/remote_executor.hpp"
#include "agent/jobs/kept_file_reader.hpp"
#include "agent/jobs/profile_library.hpp"
#include "agent/jobs/profiler_machine.hpp"
#include "agent/link/connector.hpp"
#include "core/net/task_group.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <stop_token>

namespace fathom::agent {

/// The process that hears the network: built in the order of its members, ended in reverse. Its files are in its
/// working folder; jobs are started by another process (run_with_helper).
///
/// Threads: `work_` (the caller of run()) has the attempts, the spool and the executor, and may block for
/// milliseconds on files; copies of files are read by a thread of KeptFileReader; `network_` has the connection and
/// never blocks; `survey_` looks at the machine again when told to or when it has changed, and measures it for
/// profiles, which may take seconds.
class Daemon {
  public:
    /// The executor must outlive the daemon.
    Daemon(AgentConfig config, RemoteExecutor& executor, GpuMemoryPlace gpu_memory);

    /// Takes up what an earlier run left. @error  the detail says what stands in the way.
    Result<void> prepare();

    /// Serves until SIGTERM or SIGINT. Jobs go on under their supervisors; the next run finds them again.
    void run();

  private:
    /// With the book and the sub-units that are there.
    void begin_conversation(CenterOffer offer);
    void tick();
    void wait_for_change();
    void renew_certificate(SteadyTime now);
    void take_probe_request(SteadyTime now);
    void take_sub_unit_request(SteadyTime now);
    void store_certificate(const std::string& certificate_pem);
    Result<void> take_authorities(const link::TrustedAuthorities& trusted);
    void wait_for_signal();
    void reload();
    SurveyOrder survey_order(CutRule rule) const;
    void watch_hardware(SteadyTime now);
    void measure_machine(SteadyTime now);
    void forget_machine();
    void compare_hardware(Hardware seen);
    void take_resource_order(ResourceOrder order);
    void take_library(const link::MatchLibrary& library);
    void survey_again();
    void take_survey(Result<CenterOffer> offer);
    void apply(AgentConfig config, CenterOffer offer);
    void take_offer(CenterOffer offer);
    void report_offer();
    void start_memory_manager();
    void report_gpu_memory(SteadyTime now);
    void follow_balance();
    void report_balance(SteadyTime now);
    /// With the variables that probes get besides the center's: what they can run depends on them.
    AgentConfig as_probes_run(AgentConfig config) const;

    static constexpr const char* kFolder = "."; ///< of its files

    AgentConfig config_;
    RemoteExecutor& executor_;
    SystemClock clock_;
    EnrolmentFiles files_{kFolder};
    boost::asio::io_context work_{1};
    boost::asio::io_context network_{1};
    boost::asio::thread_pool survey_{1};
    boost::asio::signal_set signals_{work_, SIGTERM, SIGINT, SIGHUP};
    boost::asio::steady_timer timer_{work_};
    boost::asio::posix::stream_descriptor changes_{work_}; ///< the executor's
    boost::asio::steady_timer change_timer_{work_};
    net::TaskGroup tasks_{"agent"};
    std::optional<Spool> spool_;
    std::unique_ptr<AttemptBook> book_;
    std::unique_ptr<Conversation> conversation_;
    std::unique_ptr<KeptFileReader> kept_files_;
    std::unique_ptr<SubUnitKeeper> sub_units_;
    std::shared_ptr<Connector> connector_;
    GpuMemoryPlace gpu_memory_place_;
    std::unique_ptr<gpu::MemoryService> gpu_memory_; ///< none: this center's jobs do not share GPU memory
    std::optional<BalanceFeed> balance_;             ///< none: this center's units are not balanced
    std::string fetch_url_;                          ///< where probes of the network fetch by default
    Catalog machine_catalog_;                        ///< with the units whose sub-units are at other centers
    Json last_catalog_;
    ResourceKeeper resources_{std::filesystem::path(kFolder) / "resources.json"};
    ProfileLibrary library_{std::filesystem::path(kFolder) / "library.json"};
    ProfilerMachine profiler_machine_;
    std::stop_source machine_stop_;  ///< of the program that measures for it
    MachineNotes machine_notes_;     ///< of the thread of `survey_`, once that has begun
    Hardware hardware_;              ///< of the last survey
    std::int64_t settings_set_{};    ///< how often what a survey goes by has changed
    bool looks_at_hardware_ = false; ///< another thread does
    bool surveys_ = false;           ///< likewise
    bool survey_failed_ = false;     ///< the last one
    SteadyTime next_hardware_look_{};
    SteadyTime next_renewal_look_{};
    bool is_renewal_wanted_{}; ///< before it is due: another authority signs now
    SteadyTime next_request_look_{};
    SteadyTime next_sub_unit_look_{};
    SteadyTime next_gpu_memory_look_{};
    SteadyTime next_balance_look_{};
};

} // namespace fathom::agent
