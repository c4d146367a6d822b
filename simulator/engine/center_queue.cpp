#include "simulator/engine/center_queue.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kBlockSize = 64;

} // namespace

void CenterQueue::Block::append(const Queued& queued)
{
    jobs.push_back(queued);
    least_units = std::min(least_units, queued.job.unit_count);
    least_limit_s = std::min(least_limit_s, queued.job.limit_s);
}

void CenterQueue::Block::find_least()
{
    least_units = std::numeric_limits<std::int64_t>::max();
    least_limit_s = std::numeric_limits<double>::infinity();
    for (const Queued& queued : jobs) {
        least_units = std::min(least_units, queued.job.unit_count);
        least_limit_s = std::min(least_limit_s, queued.job.limit_s);
    }
}

void CenterQueue::push(const Waiting& job)
{
    if (blocks_.empty() || blocks_.back().jobs.size() >= kBlockSize) {
        blocks_.emplace_back();
        blocks_.back().jobs.reserve(kBlockSize);
    }
    blocks_.back().append({job, ++pushes_});
    ++queued_jobs_;
    queued_units_ += job.unit_count;
    queued_work_ += job.work;
}

std::vector<CenterQueue::Waiting> CenterQueue::start(double now_s, std::int64_t free_units, double free_for_s)
{
    std::vector<Waiting> started;
    Room room{now_s, free_units, free_for_s};
    if (has_changed(room)) {
        reservation_.reset();
        seen_ = 0;
    }
    for (std::size_t i = 0; i < blocks_.size() && room.free_units > 0;) {
        const bool is_new = blocks_[i].jobs.back().number > seen_;
        i = is_new && start_of(blocks_[i], room, started) ? tidy(i) : i + 1;
    }
    seen_ = pushes_;
    has_ended_ = false;
    units_left_ = room.free_units;
    free_until_s_ = now_s + free_for_s;
    return started;
}

bool CenterQueue::has_changed(const Room& room) const
{
    return has_ended_ || room.free_units != units_left_ || room.now_s + room.free_for_s > free_until_s_;
}

bool CenterQueue::may_start(std::int64_t unit_count, double limit_s, const Room& room) const
{
    if (unit_count > room.free_units || limit_s > room.free_for_s) return false;
    return !reservation_ || unit_count <= reservation_->spare_units || room.now_s + limit_s <= reservation_->at_s;
}

std::optional<CenterQueue::Reservation> CenterQueue::reserve(const Waiting& first, const Room& room) const
{
    std::int64_t units = room.free_units;
    if (first.unit_count > units + running_units_) return std::nullopt;
    double at_s = room.now_s;
    auto next = running_.begin();
    for (; units < first.unit_count; ++next) {
        units += next->unit_count;
        at_s = next->limit_at_s;
    }
    for (; next != running_.end() && next->limit_at_s <= at_s; ++next)
        units += next->unit_count;
    if (std::max(at_s, room.now_s) + first.limit_s > room.now_s + room.free_for_s) return std::nullopt;
    return Reservation{at_s, units - first.unit_count};
}

bool CenterQueue::start_of(Block& block, Room& room, std::vector<Waiting>& started)
{
    if (reservation_ && !may_start(block.least_units, block.least_limit_s, room)) return false;
    const std::size_t before = started.size();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < block.jobs.size(); ++i) {
        const Queued queued = block.jobs[i];
        if (queued.number > seen_ && may_start(queued.job.unit_count, queued.job.limit_s, room)) {
            start_one(queued.job, room);
            started.push_back(queued.job);
            continue;
        }
        if (queued.number > seen_ && !reservation_) reservation_ = reserve(queued.job, room);
        block.jobs[kept++] = queued;
    }
    block.jobs.resize(kept);
    if (started.size() == before) return false;
    block.find_least();
    return true;
}

void CenterQueue::start_one(const Waiting& job, Room& room)
{
    const double limit_at_s = room.now_s + job.limit_s;
    if (reservation_ && limit_at_s > reservation_->at_s) reservation_->spare_units -= job.unit_count;
    room.free_units -= job.unit_count;
    --queued_jobs_;
    queued_units_ -= job.unit_count;
    queued_work_ = queued_jobs_ == 0 ? 0 : queued_work_ - job.work; // so that rounding errors do not pile up
    const double work_per_s = std::isfinite(job.limit_s) && job.limit_s > 0 ? job.work / job.limit_s : 0;
    running_.insert({limit_at_s, job.job, job.unit_count, work_per_s});
    limits_at_s_[job.job] = limit_at_s;
    running_units_ += job.unit_count;
    work_per_s_ += work_per_s;
    if (work_per_s > 0) work_at_limit_ += work_per_s * limit_at_s;
}

std::size_t CenterQueue::tidy(std::size_t block)
{
    const auto place = blocks_.begin() + static_cast<std::ptrdiff_t>(block);
    if (place->jobs.empty()) {
        blocks_.erase(place);
        return block;
    }
    if (block == 0 || blocks_[block - 1].jobs.size() + place->jobs.size() > kBlockSize) return block + 1;
    for (const Queued& queued : place->jobs)
        blocks_[block - 1].append(queued);
    blocks_.erase(place);
    return block;
}

void CenterQueue::end(std::size_t job)
{
    const auto limit = limits_at_s_.find(job);
    if (limit == limits_at_s_.end()) return;
    const Running ended = *running_.find({limit->second, job, 0, 0});
    running_.erase(ended);
    limits_at_s_.erase(limit);
    has_ended_ = true;
    running_units_ -= ended.unit_count;
    if (running_.empty()) {
        work_per_s_ = 0;
        work_at_limit_ = 0;
    } else if (ended.work_per_s > 0) {
        work_per_s_ -= ended.work_per_s;
        work_at_limit_ -= ended.work_per_s * ended.limit_at_s;
    }
}

double CenterQueue::running_work(double now_s) const
{
    double work = work_at_limit_ - work_per_s_ * now_s;
    for (auto late = running_.begin(); late != running_.end() && late->limit_at_s < now_s; ++late)
        work += late->work_per_s * (now_s - late->limit_at_s);
    return std::max(work, 0.0);
}

} // namespace fathom::simulation
