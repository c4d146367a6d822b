/// Sparse matrices in compressed rows: the textbook loops, and libraries that do the same.
#include "tests/bench/bare_operators.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <numeric>
#include <suitesparse/cholmod.h>

namespace fathom::bench {
namespace {

constexpr int kSpmvRows = 1000000;
constexpr int kSpmvEdge = 100;
constexpr int kGridEdge = 64;
constexpr int kIterations = 15;

/// Compressed sparse rows; square.
struct Rows {
    std::vector<int> begin{0};
    std::vector<int> columns{};
    std::vector<double> values{};

    int count() const { return static_cast<int>(begin.size()) - 1; }
    int entries() const { return static_cast<int>(columns.size()); }
};

/// The pattern of a 27-point stencil on a periodic grid.
Rows periodic_stencil()
{
    Rows matrix;
    for (int row = 0; row < kSpmvRows; ++row) {
        std::vector<int> columns;
        for (const int plane : {-kSpmvEdge * kSpmvEdge, 0, kSpmvEdge * kSpmvEdge}) {
            for (const int line : {-kSpmvEdge, 0, kSpmvEdge}) {
                for (const int point : {-1, 0, 1})
                    columns.push_back((row + plane + line + point + kSpmvRows) % kSpmvRows);
            }
        }
        std::sort(columns.begin(), columns.end());
        matrix.columns.insert(matrix.columns.end(), columns.begin(), columns.end());
        matrix.begin.push_back(matrix.entries());
    }
    matrix.values = random_vector(matrix.columns.size());
    return matrix;
}

void add_grid_row(Rows& matrix, int z, int y, int x)
{
    for (int c = std::max(z - 1, 0); c <= std::min(z + 1, kGridEdge - 1); ++c) {
        for (int b = std::max(y - 1, 0); b <= std::min(y + 1, kGridEdge - 1); ++b) {
            for (int a = std::max(x - 1, 0); a <= std::min(x + 1, kGridEdge - 1); ++a) {
                matrix.columns.push_back((c * kGridEdge + b) * kGridEdge + a);
                matrix.values.push_back(a == x && b == y && c == z ? 28 : -1);
            }
        }
    }
    matrix.begin.push_back(matrix.entries());
}

/// The 27-point stencil on a cube with a border of zeros: symmetric, positive definite.
Rows grid_stencil()
{
    Rows matrix;
    for (int z = 0; z < kGridEdge; ++z) {
        for (int y = 0; y < kGridEdge; ++y) {
            for (int x = 0; x < kGridEdge; ++x)
                add_grid_row(matrix, z, y, x);
        }
    }
    return matrix;
}

void multiply(const Rows& matrix, const double* x, double* y)
{
    const int* const begin = matrix.begin.data();
    const int* const columns = matrix.columns.data();
    const double* const values = matrix.values.data();
    for (int row = 0; row < matrix.count(); ++row) {
        double sum = 0;
        for (int e = begin[row]; e < begin[row + 1]; ++e)
            sum += values[e] * x[columns[e]];
        y[row] = sum;
    }
}

class BareSpmv final : public BareOperator {
  public:
    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            multiply(matrix_, x_.data(), y_.data());
    }

  private:
    Rows matrix_ = periodic_stencil();
    std::vector<double> x_ = random_vector(kSpmvRows);
    std::vector<double> y_ = std::vector<double>(kSpmvRows);
};

/// Conjugate gradients as in the textbook: one loop a formula.
class BareConjugateGradient final : public BareOperator {
  public:
    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            solve();
    }

  private:
    static double dot(const std::vector<double>& a, const std::vector<double>& b)
    {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    void solve()
    {
        std::fill(x_.begin(), x_.end(), 0.0);
        r_ = b_;
        p_ = b_;
        double rr = dot(r_, r_);
        for (int iteration = 0; iteration < kIterations; ++iteration) {
            multiply(matrix_, p_.data(), q_.data());
            const double alpha = rr / dot(p_, q_);
            for (std::size_t i = 0; i < size_; ++i)
                x_[i] += alpha * p_[i];
            for (std::size_t i = 0; i < size_; ++i)
                r_[i] -= alpha * q_[i];
            const double next = dot(r_, r_);
            const double beta = next / rr;
            for (std::size_t i = 0; i < size_; ++i)
                p_[i] = r_[i] + beta * p_[i];
            rr = next;
        }
    }

    Rows matrix_ = grid_stencil();
    std::size_t size_ = static_cast<std::size_t>(matrix_.count());
    std::vector<double> b_ = random_vector(size_);
    std::vector<double> x_ = std::vector<double>(size_);
    std::vector<double> r_ = std::vector<double>(size_);
    std::vector<double> p_ = std::vector<double>(size_);
    std::vector<double> q_ = std::vector<double>(size_);
};

using EigenRows = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

EigenRows eigen_rows(const Rows& matrix)
{
    return Eigen::Map<const EigenRows>(matrix.count(), matrix.count(), matrix.entries(), matrix.begin.data(),
                                       matrix.columns.data(), matrix.values.data());
}

Eigen::VectorXd eigen_vector(Eigen::Index size)
{
    const std::vector<double> values = random_vector(static_cast<std::size_t>(size));
    return Eigen::Map<const Eigen::VectorXd>(values.data(), size);
}

class EigenSpmv final : public BareOperator {
  public:
    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            y_.noalias() = matrix_ * x_;
    }

  private:
    EigenRows matrix_ = eigen_rows(periodic_stencil());
    Eigen::VectorXd x_ = eigen_vector(kSpmvRows);
    Eigen::VectorXd y_ = Eigen::VectorXd::Zero(kSpmvRows);
};

class EigenConjugateGradient final : public BareOperator {
  public:
    EigenConjugateGradient()
    {
        // Its first residual takes a product, too: so it has as many products as ours, and one update less.
        solver_.setMaxIterations(kIterations - 1);
        solver_.setTolerance(0);
        solver_.compute(matrix_);
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            x_ = solver_.solve(b_);
    }

  private:
    EigenRows matrix_ = eigen_rows(grid_stencil());
    Eigen::VectorXd b_ = eigen_vector(matrix_.rows());
    Eigen::VectorXd x_ = Eigen::VectorXd::Zero(matrix_.rows());
    Eigen::ConjugateGradient<EigenRows, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> solver_;
};

/// CHOLMOD stores columns: our rows are the columns of the transposed matrix, which it multiplies with as easily.
class CholmodSpmv final : public BareOperator {
  public:
    CholmodSpmv()
    {
        cholmod_start(&common_);
        matrix_.nrow = matrix_.ncol = kSpmvRows;
        matrix_.nzmax = rows_.columns.size();
        matrix_.p = rows_.begin.data();
        matrix_.i = rows_.columns.data();
        matrix_.x = rows_.values.data();
        matrix_.stype = 0; // not symmetric
        matrix_.itype = CHOLMOD_INT;
        matrix_.xtype = CHOLMOD_REAL;
        matrix_.dtype = CHOLMOD_DOUBLE;
        matrix_.sorted = matrix_.packed = 1;
        x_ = dense(x_values_);
        y_ = dense(y_values_);
    }
    ~CholmodSpmv() override { cholmod_finish(&common_); }
    CholmodSpmv(const CholmodSpmv&) = delete;
    CholmodSpmv& operator=(const CholmodSpmv&) = delete;

    void loop(long times) override
    {
        double one[2] = {1, 0};
        double zero[2] = {0, 0};
        for (long i = 0; i < times; ++i)
            cholmod_sdmult(&matrix_, /*transpose=*/1, one, zero, &x_, &y_, &common_);
    }

  private:
    static cholmod_dense dense(std::vector<double>& values)
    {
        cholmod_dense vector{};
        vector.nrow = vector.nzmax = vector.d = values.size();
        vector.ncol = 1;
        vector.x = values.data();
        vector.xtype = CHOLMOD_REAL;
        vector.dtype = CHOLMOD_DOUBLE;
        return vector;
    }

    Rows rows_ = periodic_stencil();
    std::vector<double> x_values_ = random_vector(kSpmvRows);
    std::vector<double> y_values_ = std::vector<double>(kSpmvRows);
    cholmod_common common_{};
    cholmod_sparse matrix_{};
    cholmod_dense x_{};
    cholmod_dense y_{};
};

} // namespace

std::unique_ptr<BareOperator> make_bare_sparse(std::string_view id)
{
    if (id == "spmv") return std::make_unique<BareSpmv>();
    if (id == "conjugate_gradient") return std::make_unique<BareConjugateGradient>();
    return nullptr;
}

std::vector<LibraryPeer> library_peers(std::string_view id)
{
    if (id == "spmv")
        return {{"eigen", [] { return std::make_unique<EigenSpmv>(); }},
                {"cholmod", [] { return std::make_unique<CholmodSpmv>(); }}};
    if (id == "conjugate_gradient") return {{"eigen", [] { return std::make_unique<EigenConjugateGradient>(); }}};
    return {};
}

} // namespace fathom::bench
