"""A heat equation by conjugate gradients on a sparse matrix, factorizations of blocks, and a spectral filter."""
import numpy
import scipy.fft
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

edge = 400
line = scipy.sparse.diags([-1, 2.02, -1], [-1, 0, 1], shape=(edge, edge))
unit = scipy.sparse.identity(edge)
matrix = (scipy.sparse.kron(line, unit) + scipy.sparse.kron(unit, line)).tocsr()
right = numpy.random.default_rng(3).standard_normal(edge * edge)
solution, _ = scipy.sparse.linalg.cg(matrix, right, maxiter=400, tol=1e-12)
block = numpy.random.default_rng(4).standard_normal((1200, 1200))
block = block @ block.T + 1200 * numpy.eye(1200)
for _ in range(24):
    factor = scipy.linalg.cho_factor(block)
    columns = scipy.linalg.cho_solve(factor, block[:, :200])
spectrum = scipy.fft.fft2(solution.reshape(edge, edge))
print(solution[0], columns[0, 0], abs(spectrum).max())
