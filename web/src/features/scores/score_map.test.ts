import { describe, expect, it } from 'vitest'
import type { Score } from '../../queries/scores'
import { countsOf, mapOf } from './score_map'

function score(unitType: string, operator: string, n: number, more: Partial<Score> = {}): Score {
  return {
    center_id: 'c', center: 'alpha', unit_type_id: unitType, unit_type: unitType, operator, operator_version: 1, parameters: { n }, unit_count: 1,
    median_s: 1, ci_low_s: 1, ci_high_s: 1, spread: 0, sample_count: 7, outlier_count: 0, operations: 1, bytes: 1, rate_flops: 1, rate_bytes: 1,
    error: 0, tolerance: 0, precision: 'fp64', library: 'x', trust_factor: 1, diversity: 1, score: 100, score_low: 90, score_high: 110,
    missing_reason: null, policy: 'p@1', probe_run_id: 'r', probe_run_ids: ['r'], measured_at: '2026-01-01T00:00:00Z', ...more,
  }
}

describe('the map of scores', () => {
  it('has each operator at the size that most unit types were measured at', () => {
    const map = mapOf([score('u1', 'fft', 8), score('u2', 'fft', 8), score('u1', 'fft', 16, { measured_at: '2026-02-01T00:00:00Z' })], 1)
    expect(map.columns).toEqual([{ key: 'fft', name: 'fft', size: 'n=8' }])
    expect(map.rows.map((row) => row.key)).toEqual(['u1', 'u2'])
    expect(map.at('u2', 'fft')).toMatchObject({ parameters: { n: 8 } })
    expect(map.at('u3', 'fft')).toBeNull()
  })

  it('has one count of units at a time', () => {
    const scores = [score('u1', 'fft', 8), score('u1', 'fft', 8, { unit_count: 2, score: 60 })]
    expect(countsOf(scores)).toEqual([1, 2])
    expect(mapOf(scores, 2).at('u1', 'fft')).toMatchObject({ score: 60 })
  })
})
