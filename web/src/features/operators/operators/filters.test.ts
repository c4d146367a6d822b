import { expect, it } from 'vitest'
import type { Operator } from '../../../queries/operators'
import { filterOperators, parseOperatorFilters } from './filters'

const operators = [
  { id: 'dgemm', category: 'linear_algebra', description: 'A matrix times a matrix', withdrawn_at: null },
  { id: 'fft3d', category: 'spectral', description: 'A Fourier transform of a cube', withdrawn_at: null },
  { id: 'old_gemm', category: 'linear_algebra', description: 'As it was', withdrawn_at: '2026-11-01T00:00:00Z' }] as Operator[]

const ids = (raw: Partial<Record<'text' | 'category' | 'state', string>>) =>
  filterOperators(operators, parseOperatorFilters({ text: '', category: '', state: '', ...raw })).map((operator) => operator.id)

it('finds operators by a part of the id, or of what they compute', () => {
  expect(ids({})).toHaveLength(3)
  expect(ids({ text: ' GEMM' })).toEqual(['dgemm', 'old_gemm'])
  expect(ids({ text: 'fourier' })).toEqual(['fft3d'])
  expect(ids({ text: 'gemm', state: 'withdrawn' })).toEqual(['old_gemm'])
  expect(ids({ category: 'linear_algebra', state: 'used' })).toEqual(['dgemm'])
})

it('takes nothing out of an address that is no state', () => {
  expect(ids({ state: 'lost' })).toHaveLength(3)
})
