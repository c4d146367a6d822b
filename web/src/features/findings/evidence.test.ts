import { expect, it } from 'vitest'
import { evidenceOf } from './evidence'

it('times are told in their units, and the runs before by their ids', () => {
  expect(evidenceOf({ claimed_s: 0.25, seen_s: 90, ordered_s: null, runs_before: ['prn_1', 'prn_2'] })).toEqual({
    figures: [['claimed_s', '250 ms'], ['seen_s', '1 min 30 s'], ['ordered_s', '–']], faults: [], runs: ['prn_1', 'prn_2'] })
})

it('what a result had wrong is told field by field', () => {
  expect(evidenceOf({ faults: [{ field: 'wall_s', detail: 'is negative' }, { detail: 'is garbage' }, 7] })).toEqual({
    figures: [], faults: [{ field: 'wall_s', detail: 'is negative' }, { field: '', detail: 'is garbage' }], runs: [] })
})

it('what is not known is shown as it is', () => {
  expect(evidenceOf({ isa: ['avx2', 'fma'], new: { a: 1 }, faults: 'many' }).figures).toEqual([['isa', 'avx2, fma'], ['new', '{"a":1}'], ['faults', 'many']])
  expect(evidenceOf(null)).toEqual({ figures: [], faults: [], runs: [] })
})
