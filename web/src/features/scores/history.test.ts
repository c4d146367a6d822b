import { describe, expect, it } from 'vitest'
import type { Score, ScorePoint } from '../../queries/scores'
import { countsOperations, drawnOf, historyPath, seriesOf } from './history'

function point(day: number, more: Partial<ScorePoint> = {}): ScorePoint {
  return {
    center_id: 'c', center: 'alpha', unit_type_id: 'u1', unit_type: 'core', operator: 'fft', operator_version: 1, parameters: { n: 8 }, unit_count: 1,
    median_s: 1, ci_low_s: 1, ci_high_s: 1, spread: 0, sample_count: 7, outlier_count: 0, operations: 1, bytes: 1, rate_flops: 5, rate_bytes: 3,
    error: 0, tolerance: 0, precision: 'fp64', library: 'x', score: 100 + day, score_low: 90, score_high: 110, missing_reason: null, void_reason: null,
    policy: 'p@1', probe_run_id: `r${day}`, measured_at: `2026-01-0${day}T00:00:00Z`, ...more,
  }
}

describe('the history of a score', () => {
  it('keeps sizes and counts of units apart, and goes with time', () => {
    const series = seriesOf([point(3), point(2, { unit_count: 4 }), point(2, { parameters: { n: 9 } }), point(1)])
    expect(series.map((one) => one.key)).toEqual(['n=8 1', 'n=8 4', 'n=9 1'])
    expect(series[0]?.points.map((one) => one.probe_run_id)).toEqual(['r1', 'r3'])
  })

  it('draws no point that has no score or was found to be false', () => {
    const [series] = seriesOf([point(1), point(2, { score: null }), point(3, { void_reason: 'checksum', score: null })])
    if (!series) throw new Error('there is no series')
    expect(drawnOf(series, 'score')).toEqual([['2026-01-01T00:00:00Z', 101]])
    expect(drawnOf(series, 'rate')).toEqual([['2026-01-01T00:00:00Z', 5], ['2026-01-02T00:00:00Z', 5]])
  })

  it('tells what has no operations by its bytes', () => {
    const points = [point(1, { rate_flops: 0 })]
    expect(countsOperations(points)).toBe(false)
    expect(seriesOf(points).map((one) => drawnOf(one, 'rate'))).toEqual([[['2026-01-01T00:00:00Z', 3]]])
  })

  it('has an address that names version, size and units', () => {
    const score: Score = { ...point(1), trust_factor: 1, diversity: 1, probe_run_ids: ['r1'] }
    const query = new URL(historyPath(score, 'p@1'), 'http://x').searchParams
    expect(Object.fromEntries(query)).toEqual({ unit_type: 'u1', operator: 'fft', version: '1', series: 'n=8 1', policy: 'p@1' })
    expect(historyPath(score, '')).not.toContain('policy')
  })
})
