"""Principal components and a regression: products, symmetric eigenvalues, a least-squares solution."""
import numpy

generator = numpy.random.default_rng(5)
data = generator.standard_normal((6000, 500))
for _ in range(12):
    covariance = data.T @ data / len(data)
    values, vectors = numpy.linalg.eigh(covariance)
    projected = data @ vectors[:, -50:]
    normal = projected.T @ projected + numpy.eye(50)
    weights = numpy.linalg.solve(normal, projected.T @ data[:, :3])
    data += 1e-3 * numpy.tanh(projected[:, :1])
print(values[-1], weights[0, 0])
