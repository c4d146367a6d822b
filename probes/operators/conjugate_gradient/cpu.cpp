#include "probes/operators/checksum.hpp"
#include "probes/operators/conjugate_gradient/truth.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/own_loops.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/stencil_matrix.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace fathom::probes {
namespace {

/// Rows whose products are added up in one go. The sums of blocks are added in order, whoever computed them:
/// the result does not depend on the number of threads.
constexpr std::size_t kBlock = 512;

/// Of the residual's square. Small grids get there early; further steps do the same work and change nothing, for
/// they would lead to numbers so small that processors compute with them slowly, and then to 0/0.
constexpr double kConverged = 1e-28;

class ConjugateGradient final : public ProbeOperator {
  public:
    ConjugateGradient(std::size_t edge, std::size_t iterations, int threads)
        : edge_(edge), rows_(edge * edge * edge), iterations_(iterations), team_(threads)
    {
    }

    Result<void> prepare(std::uint64_t seed) override
    {
        matrix_ = StencilMatrix(edge_);
        b_ = Buffer<double>(rows_);
        x_ = Buffer<double>(rows_);
        r_ = Buffer<double>(rows_);
        p_ = Buffer<double>(rows_);
        q_ = Buffer<double>(rows_);
        sums_.assign((rows_ + kBlock - 1) / kBlock, 0.0);
        team_.for_parts(sums_.size(), [this](Part blocks) { // each thread touches first what it will read and write
            const Part rows = rows_of(blocks);
            matrix_.fill(rows);
            for (Buffer<double>* const vector : {&b_, &x_, &r_, &p_, &q_})
                std::fill(vector->data() + rows.begin, vector->data() + rows.end, 0.0);
        });
        for (std::size_t i = 0; i < rows_; ++i)
            b_[i] = random_signed(seed, i);
        return {};
    }

    void execute() override
    {
        const OwnLoops& loops = own_loops();
        const CsrMatrix matrix = matrix_.stored();
        double rr = for_rows([this](Part rows) { return begin(rows); });
        const double enough = kConverged * rr;
        for (std::size_t i = 0; i < iterations_; ++i) {
            const double pq = for_rows([&](Part rows) {
                return loops.multiply_and_dot(matrix, {rows.begin, rows.end}, p_.data(), q_.data());
            });
            const bool has_converged = rr <= enough;
            const double alpha = has_converged ? 0 : rr / pq;
            const double next = for_rows([this, alpha](Part rows) { return step(rows, alpha); });
            const double beta = has_converged ? 0 : next / rr;
            for_rows([this, beta](Part rows) { return turn(rows, beta); });
            rr = next;
        }
    }

    double error() override { return conjugate_gradient_error(edge_, iterations_, b_.span(), x_.span(), r_.span()); }

    std::vector<double> values() override { return {x_.span().begin(), x_.span().end()}; }
    std::string checksum() override { return rounded_checksum(x_.span(), 1 / kStencilDiagonal); }
    std::string library() const override
    {
        return "own CSR kernel, 32-bit indices, and fused vector updates, " + own_loops_name();
    }
    std::span<std::byte> output() override { return x_.bytes(); }

  private:
    Part rows_of(Part blocks) const
    {
        return {std::min(blocks.begin * kBlock, rows_), std::min(blocks.end * kBlock, rows_)};
    }

    /// Runs `work` on all rows, in blocks; the sum of what it returned.
    double for_rows(const std::function<double(Part)>& work)
    {
        team_.for_parts(sums_.size(), [&](Part blocks) {
            for (std::size_t block = blocks.begin; block < blocks.end; ++block)
                sums_[block] = work(rows_of({block, block + 1}));
        });
        return std::accumulate(sums_.begin(), sums_.end(), 0.0);
    }

    /// x = 0, r = p = b; r·r of these rows.
    double begin(Part rows)
    {
        double rr = 0;
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
            x_[i] = 0;
            r_[i] = p_[i] = b_[i];
            rr += r_[i] * r_[i];
        }
        return rr;
    }

    /// x += α·p, r −= α·A·p; r·r of these rows.
    double step(Part rows, double alpha)
    {
        return own_loops().advance(alpha, p_.data() + rows.begin, q_.data() + rows.begin, x_.data() + rows.begin,
                                   r_.data() + rows.begin, rows.end - rows.begin);
    }

    /// p = r + β·p.
    double turn(Part rows, double beta)
    {
        own_loops().turn(beta, r_.data() + rows.begin, p_.data() + rows.begin, rows.end - rows.begin);
        return 0;
    }

    std::size_t edge_;
    std::size_t rows_;
    std::size_t iterations_;
    ThreadTeam team_;
    StencilMatrix matrix_;
    Buffer<double> b_;
    Buffer<double> x_;
    Buffer<double> r_; ///< residual, carried along
    Buffer<double> p_; ///< direction
    Buffer<double> q_; ///< A·p
    std::vector<double> sums_;
};

std::unique_ptr<ProbeOperator> make_conjugate_gradient(const Parameters& parameters, int threads)
{
    return std::make_unique<ConjugateGradient>(static_cast<std::size_t>(parameters.at("edge")),
                                               static_cast<std::size_t>(parameters.at("iterations")), threads);
}

double conjugate_gradient_memory(const Parameters& parameters)
{
    const double rows = std::pow(static_cast<double>(parameters.at("edge")), 3);
    return rows * (27 * 12 + 4 + 5 * 8) + rows * 8 * 5; // and the check's vectors
}

} // namespace

CpuImplementation conjugate_gradient_on_cpu()
{
    return {.make = make_conjugate_gradient, .memory = conjugate_gradient_memory};
}

} // namespace fathom::probes
