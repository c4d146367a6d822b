#include "agent/app/daemon.hpp"
#include "agent/app/job_executor.hpp"
#include "core/base/run_program.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

// What the daemon offers: by its settings, by what the network's administrators want, and by what the machines have.
namespace fathom::agent {
namespace {

namespace asio = boost::asio;

/// Between two looks at whether the machines have changed.
constexpr std::chrono::seconds kHardwareInterval{20};
/// For `fathom-profile --machine`, which takes some seconds.
constexpr std::chrono::seconds kMachineLimit{40};

/// Whether others, such as another center's jobs, have computed on this host in the last minute.
bool is_host_busy()
{
    constexpr double kIdleLoad = 0.5; // the average of a minute: 40 s after a job of one core
    constexpr double kIdleLoadPerCore = 0.05;
    double load = 0;
    if (::getloadavg(&load, 1) != 1) return false;
    return load > std::max(kIdleLoad, kIdleLoadPerCore * std::thread::hardware_concurrency());
}

} // namespace

SurveyOrder Daemon::survey_order(CutRule rule) const
{
    return {.rule = rule, .wanted = resources_.wanted()};
}

AgentConfig Daemon::as_probes_run(AgentConfig config) const
{
    if (!fetch_url_.empty()) config.tables.environment.emplace("FATHOM_FETCH_URL", fetch_url_);
    return config;
}

void Daemon::watch_hardware(SteadyTime now)
{
    if (now < next_hardware_look_ || looks_at_hardware_) return;
    looks_at_hardware_ = true;
    asio::post(survey_, [this, config = config_, set = settings_set_] {
        auto seen = std::make_shared<Result<Hardware>>(look_at_machines(config, machine_notes_));
        asio::post(work_, [this, set, seen] {
            looks_at_hardware_ = false;
            next_hardware_look_ = std::chrono::steady_clock::now() + kHardwareInterval;
            // By settings of before: the next look comes soon. A batch system that does not answer has not changed.
            if (set == settings_set_ && *seen) compare_hardware(std::move(**seen));
        });
    });
}

void Daemon::compare_hardware(Hardware seen)
{
    const bool changed = has_changed(hardware_, seen);
    if (changed) {
        log_info("hardware_changed", {{"change", describe_hardware_change(hardware_, seen)}});
        forget_machine();
    }
    if (!changed && !survey_failed_) return;
    hardware_ = std::move(seen);
    survey_again();
}

void Daemon::take_resource_order(ResourceOrder order)
{
    const std::int64_t version = order.version;
    const Result<bool> is_new = resources_.take(std::move(order));
    if (!is_new) {
        // Not answered: the next connection brings it again.
        log_error("resource_order_not_stored", {{"version", version}, {"reason", describe(is_new.error())}});
        return;
    }
    if (!*is_new) return;
    log_info("resource_order_taken", {{"version", version}, {"unit_types", resources_.wanted().size()}});
    survey_again();
}

/// What profiled jobs would else hold their units for.
void Daemon::measure_machine(SteadyTime now)
{
    // A batch system's jobs run on its nodes.
    if (config_.uses_slurm || config_.uses_kubernetes) return;
    const bool is_wanted = book_->has_profiled();
    const bool is_due = profiler_machine_.is_due(book_->running_count(), is_wanted, is_wanted && is_host_busy(), now);
    if (profiler_machine_.must_stop()) machine_stop_.request_stop();
    if (!is_due) return;
    machine_stop_ = std::stop_source();
    asio::post(survey_, [this, config = config_, stop = machine_stop_.get_token()] {
        const std::filesystem::path folder = std::filesystem::absolute(config.probe_program).parent_path();
        const std::vector<std::string> command{(folder / "fathom-profile").string(), "--machine"};
        auto output = std::make_shared<Result<std::string>>(
            run_program_until(stop, command, config.tables.environment, kMachineLimit));
        asio::post(work_, [this, output, stop] {
            if (stop.stop_requested() && !profiler_machine_.must_stop()) return; // the agent stops
            if (profiler_machine_.take(*output, std::chrono::steady_clock::now()))
                book_->profile_on(profiler_machine_.text());
        });
    });
}

/// Until it is measured anew, profiled jobs measure it themselves.
void Daemon::forget_machine()
{
    profiler_machine_.forget();
    book_->profile_on("");
}

/// However many changes come meanwhile, one more survey follows the one that is under way.
void Daemon::survey_again()
{
    ++settings_set_;
    if (surveys_) return;
    surveys_ = true;
    asio::post(survey_, [this, config = config_, set = settings_set_, order = survey_order(CutRule::kFitting),
                         facts = executor_.facts()] {
        auto offer =
            std::make_shared<Result<CenterOffer>>(survey_machines(as_probes_run(config), facts, order, machine_notes_));
        asio::post(work_, [this, set, offer] {
            surveys_ = false;
            if (set == settings_set_)
                take_survey(std::move(*offer));
            else
                survey_again();
        });
    });
}

void Daemon::take_survey(Result<CenterOffer> offer)
{
    survey_failed_ = !offer;
    if (offer) return take_offer(std::move(*offer));
    log_warning("hardware_not_surveyed",
                {{"reason", describe(offer.error())}, {"effect", "the present units stay; the next look tries again"}});
    conversation_->tell_resources(resources_.failed(offer.error(), config_.remote_resources));
}

void Daemon::reload()
{
    const Result<std::string> text = executor_.read_settings();
    Result<AgentConfig> config = text ? with_changed_settings(config_, *text) : Result<AgentConfig>(text.error());
    if (!config) {
        log_warning("config_rejected", {{"reason", describe(config.error())}, {"effect", "the present settings stay"}});
        return;
    }
    asio::post(survey_, [this, config = std::move(*config), order = survey_order(CutRule::kMustFit),
                         set = settings_set_, facts = executor_.facts()]() mutable {
        auto offer =
            std::make_shared<Result<CenterOffer>>(survey_machines(as_probes_run(config), facts, order, machine_notes_));
        asio::post(work_, [this, config = std::move(config), set, offer]() mutable {
            if (!*offer) {
                log_warning("config_rejected", {{"reason", describe(offer->error())}});
                return;
            }
            const bool is_newest = set == settings_set_;
            apply(std::move(config), std::move(**offer));
            if (!is_newest) survey_again(); // other things changed meanwhile
        });
    });
}

void Daemon::apply(AgentConfig config, CenterOffer offer)
{
    if (const Result<void> fits = sub_units_->replace_rules(config.tables.sub_units); !fits) {
        log_warning("config_rejected", {{"reason", describe(fits.error())}, {"effect", "the present settings stay"}});
        return;
    }
    start_log("fathom-agent", config.log_level);
    config_ = std::move(config);
    forget_machine(); // the variables that programs get may be others
    ++settings_set_;
    log_info("config_reloaded");
    take_offer(std::move(offer));
}

void Daemon::take_offer(CenterOffer offer)
{
    book_->replace_offer(std::move(offer.plan), config_.tables.environment, config_.operator_trust);
    machine_catalog_ = std::move(offer.catalog);
    report_offer();
    sub_units_->tell();
    // After the catalog: who hears that an order is followed knows its unit types already.
    conversation_->tell_resources(resources_.applied(std::move(offer.differences), config_.remote_resources));
}

void Daemon::report_offer()
{
    Catalog offered = sub_units_->limited(machine_catalog_);
    const Json catalog = to_json(offered);
    const bool changed = catalog != last_catalog_;
    log_info("center_surveyed", {{"catalog_changed", changed}});
    if (changed) conversation_->offer_changed(std::move(offered));
    last_catalog_ = catalog;
}

} // namespace fathom::agent
