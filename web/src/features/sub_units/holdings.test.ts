import { expect, it } from 'vitest'
import { holdingsOf, loadOf, wholeUnits } from './holdings'

const alpha = {
  center_id: 'ctr_1', center: 'alpha', center_state: 'online' as const, unit_type: 'gpu', sub_units_per_unit: 7, registered_count: 28, held_count: 28,
  target_count: 20, offered_count: 20, most_count: 56, settled: false,
}

it('lists each center of each kind', () => {
  const kinds = [
    { kind: 'mig', registered_count: 28, held_count: 28, free_count: 0, centers: [alpha] },
    { kind: 'vgpu', registered_count: 28, held_count: 20, free_count: 8, centers: [alpha, { ...alpha, center: 'beta' }] }]
  expect(holdingsOf(kinds).map((holding) => `${holding.kind} ${holding.center}`)).toEqual(['mig alpha', 'vgpu alpha', 'vgpu beta'])
})

it('counts whole units only', () => {
  expect(wholeUnits(alpha)).toBe(2)
  expect(wholeUnits({ ...alpha, offered_count: 6 })).toBe(0)
})

it('reads loads in percent', () => {
  expect(loadOf('50')).toBe(0.5)
  expect(loadOf(' 12,5 ')).toBe(0.125)
  expect(loadOf('100')).toBe(1)
  for (const wrong of ['', '101', '-1', '1e2', 'half']) expect(loadOf(wrong)).toBeNull()
})
