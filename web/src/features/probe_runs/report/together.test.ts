import { expect, it } from 'vitest'
import { bestFirst, type ComparedPlace, isSuperseded } from './together'

function place(center: string, median_s: number, together_s: number, runs: string[]): ComparedPlace {
  return {
    center, unit_type: 'core', probe_run_id: center, median_s, ci_low_s: median_s, ci_high_s: median_s, ratio: 1, is_tied: false, error: 0, sample_count: 7,
    together: { median_s: together_s, ci_low_s: together_s, ci_high_s: together_s, ratio: 1, is_tied: true, probe_run_ids: runs },
  }
}

it('a run that was lucky once does not make its place the best', () => {
  const places = [place('lucky', 1, 2.1, ['lucky', 'r1']), place('steady', 2, 2, ['steady', 'r2'])]
  expect(bestFirst(places).map((p) => p.center)).toEqual(['steady', 'lucky'])
  expect(places.map((p) => p.center)).toEqual(['lucky', 'steady'])
})

it('a run before a change does not count any more', () => {
  expect(isSuperseded(place('a', 1, 1, ['a', 'r1']))).toBe(false)
  expect(isSuperseded(place('a', 3, 1, ['r2', 'r1']))).toBe(true)
})
