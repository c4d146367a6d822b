import { expect, test } from 'vitest'
import { drawnLoads, factorBeside, lineOf } from './load_factors'

/** As REST tells it: at a quarter, half and all of the largest load. */
function curve(operator: string, largest: number, [quarter, half, all]: [number, number, number]) {
  const at = (busy_cores: number, factor: number) => ({ busy_cores, factor, low: factor - 0.02, high: factor + 0.02 })
  return { operator, largest_busy_cores: largest, points: [at(largest / 4, quarter), at(largest / 2, half), at(largest, all)] }
}

test('the factors beside all and beside half of the largest load are found by the load, not by their place', () => {
  const spmv = curve('spmv', 7, [1.1, 1.2, 1.44])
  expect(factorBeside(spmv, 1)?.factor).toBe(1.44)
  expect(factorBeside({ ...spmv, points: [...spmv.points].reverse() }, 0.5)?.factor).toBe(1.2)
  expect(factorBeside(spmv, 0.75)).toBeNull()
  // Those that nothing is told of.
  expect(factorBeside({}, 1)).toBeNull()
})

test('those that neighbours slow most are drawn, and no more than can be told apart', () => {
  const curves = [curve('dgemm', 4, [1, 1, 1]), curve('spmv', 4, [1.1, 1.2, 1.4]), { operator: 'fft1d' }, curve('conv2d', 4, [1, 1, 1]), curve('stream_triad', 4, [1.2, 1.5, 2])]
  expect(drawnLoads(curves, 6).map((one) => one.operator)).toEqual(['stream_triad', 'spmv', 'conv2d', 'dgemm'])
  expect(drawnLoads(curves, 2).map((one) => one.operator)).toEqual(['stream_triad', 'spmv'])
})

test('a line begins alone', () => {
  expect(lineOf(curve('spmv', 4, [1.1, 1.2, 1.4]))).toEqual([[0, 1], [1, 1.1], [2, 1.2], [4, 1.4]])
})
