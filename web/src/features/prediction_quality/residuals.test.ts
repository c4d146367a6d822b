import { describe, expect, it } from 'vitest'
import type { Prediction } from '../../queries/predictions'
import { drift, logRange, pointsOf, runningMedian } from './residuals'

const prediction = (actual: number | null, minute: number, change: object = {}) => ({
  attempt_id: `att_${minute}`, predicted: { run_s: 10, low_s: 8, high_s: 12 }, actual_run_s: actual, outcome: 'succeeded',
  ended_at: `2026-11-25T10:${String(minute).padStart(2, '0')}:00Z`, ...change,
}) as Prediction

describe('points', () => {
  it('are runs that came to their end, the oldest first', () => {
    const points = pointsOf([prediction(20, 3), prediction(9, 1), prediction(null, 2), prediction(5, 4, { outcome: 'cancelled' }), prediction(5, 5, { predicted: null })])
    expect(points.map((p) => [p.ratio, p.isWithin])).toEqual([[0.9, true], [2, false]])
  })

  it('have running medians', () => {
    const points = pointsOf([10, 20, 30, 40].map((actual, i) => prediction(actual, i)))
    expect(runningMedian(points, 3).map(([, ratio]) => ratio)).toEqual([2, 3])
    expect(runningMedian(points, 5)).toEqual([])
  })

  it('tell a drift when there are enough', () => {
    const points = pointsOf([10, 10, 10, 20, 20].map((actual, i) => prediction(actual, i)))
    expect(drift(points, 2)).toEqual({ now: 2, before: 1 })
    expect(drift(points, 3)).toBeNull()
  })
})

it('logarithmic axes hold all values', () => {
  expect(logRange([0.02, 5])).toEqual({ min: 0.01, max: 10 })
  expect(logRange([1])).toEqual({ min: 1, max: 10 })
  expect(logRange([])).toEqual({ min: 0.1, max: 10 })
})
