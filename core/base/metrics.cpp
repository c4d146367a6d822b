#include "core/base/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom {

struct Metrics::State {
    // Merge: asking for a family or member again returns the one that exists.
    prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
    std::mutex mutex;
    // Of replace(), by name. The registry owns them.
    std::map<std::string, std::map<MetricLabels, prometheus::Gauge*>> replaced;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::count(const std::string& name, const std::string& help, const MetricLabels& labels, double amount)
{
    counter(name, help, labels).add(amount);
}

void Metrics::set(const std::string& name, const std::string& help, double value, const MetricLabels& labels)
{
    prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry).Add(labels).Set(value);
}

void Metrics::replace(const std::string& name, const std::string& help, const std::map<MetricLabels, double>& values)
{
    auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry);
    const std::scoped_lock lock(state_->mutex);
    std::map<MetricLabels, prometheus::Gauge*>& gauges = state_->replaced[name];
    std::erase_if(gauges, [&](const auto& entry) {
        const bool is_gone = !values.contains(entry.first);
        if (is_gone) family.Remove(entry.second);
        return is_gone;
    });
    for (const auto& [labels, value] : values) {
        prometheus::Gauge& gauge = family.Add(labels);
        gauge.Set(value);
        gauges[labels] = &gauge;
    }
}

void Metrics::observe_seconds(const std::string& name, const std::string& help, double seconds,
                              const MetricLabels& labels)
{
    seconds_histogram(name, help, labels).observe(seconds);
}

Metrics::Counter Metrics::counter(const std::string& name, const std::string& help, const MetricLabels& labels)
{
    return Counter(prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry).Add(labels));
}

Metrics::SecondsHistogram Metrics::seconds_histogram(const std::string& name, const std::string& help,
                                                     const MetricLabels& labels)
{
    static const prometheus::Histogram::BucketBoundaries kBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                                 0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
    return SecondsHistogram(
        prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry).Add(labels, kBounds));
}

void Metrics::Counter::add(double amount) const
{
    counter_->Increment(amount);
}

void Metrics::SecondsHistogram::observe(double seconds) const
{
    histogram_->Observe(seconds);
}

std::string Metrics::expose() const
{
    return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

} // namespace fathom
