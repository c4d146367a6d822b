#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Histogram;
} // namespace prometheus

namespace fathom {

using MetricLabels = std::map<std::string, std::string>;

/// The process's metrics in Prometheus' text format. Thread-safe.
///
/// Names follow Prometheus' custom: `fathom_` prefix, unit suffix (`_seconds`, `_bytes`, `_total`).
/// Labels must have few values; never an id, but of a device in replace().
class Metrics {
  public:
    Metrics();
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    /// Adds to a counter, made at first use.
    void count(const std::string& name, const std::string& help, const MetricLabels& labels = {}, double amount = 1);
    /// Sets a gauge, made at first use.
    void set(const std::string& name, const std::string& help, double value, const MetricLabels& labels = {});
    /// Sets a gauge of things that come and go: those that `values` does not have are exposed no longer. The caller
    /// bounds how many there are, and sets this gauge by no other call.
    void replace(const std::string& name, const std::string& help, const std::map<MetricLabels, double>& values);
    /// Records one duration in a histogram with bounds from 0.5 ms to 60 s.
    void observe_seconds(const std::string& name, const std::string& help, double seconds,
                         const MetricLabels& labels = {});

    /// One counter, found once: adding takes no look-up and no lock. Valid as long as its Metrics.
    class Counter {
      public:
        void add(double amount = 1) const;

      private:
        friend class Metrics;
        explicit Counter(prometheus::Counter& counter) : counter_(&counter) {}
        prometheus::Counter* counter_;
    };
    /// One histogram of durations, found once. Valid as long as its Metrics.
    class SecondsHistogram {
      public:
        void observe(double seconds) const;

      private:
        friend class Metrics;
        explicit SecondsHistogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
        prometheus::Histogram* histogram_;
    };
    /// The counter or histogram itself, for paths that run thousands of times a second.
    Counter counter(const std::string& name, const std::string& help, const MetricLabels& labels = {});
    SecondsHistogram seconds_histogram(const std::string& name, const std::string& help,
                                       const MetricLabels& labels = {});

    /// The answer of `/metrics`.
    std::string expose() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom
