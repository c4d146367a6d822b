import type { Prediction } from '../../queries/predictions'
import { median } from '../../ui/number_list'

/** A prediction of a run time with what came of it. */
export interface Point {
  id: string
  predicted: number
  actual: number
  ratio: number
  isWithin: boolean
  /** Milliseconds. */
  ended: number
}

/** The predictions that can be compared with a run, oldest end first. */
export function pointsOf(predictions: readonly Prediction[]): Point[] {
  const points = predictions.flatMap((p): Point[] => {
    const ended = p.ended_at ? Date.parse(p.ended_at) : Number.NaN
    // Only a run that came to its own end says how long such a job takes.
    if (!p.predicted || p.actual_run_s === null || p.actual_run_s <= 0 || Number.isNaN(ended) || p.outcome !== 'succeeded') return []
    const { run_s, low_s, high_s } = p.predicted
    return [{
      id: p.attempt_id, predicted: run_s, actual: p.actual_run_s, ratio: p.actual_run_s / run_s, ended,
      isWithin: p.actual_run_s >= low_s && p.actual_run_s <= high_s,
    }]
  })
  return points.sort((a, b) => a.ended - b.ended)
}

/** At each point from the `size`-th on, the median ratio of the last `size` points. */
export function runningMedian(points: readonly Point[], size: number): [number, number][] {
  const line: [number, number][] = []
  for (let end = size; end <= points.length; ++end) {
    const ratio = median(points.slice(end - size, end).map((p) => p.ratio))
    const last = points[end - 1]
    if (ratio !== null && last) line.push([last.ended, ratio])
  }
  return line
}

/** The median ratio of the newest points and of all before; null where there are too few of either. */
export function drift(points: readonly Point[], size: number): { now: number; before: number } | null {
  if (points.length < 2 * size) return null
  const now = median(points.slice(-size).map((p) => p.ratio))
  const before = median(points.slice(0, -size).map((p) => p.ratio))
  return now === null || before === null ? null : { now, before }
}

/** Whole powers of ten that hold all of some positive numbers. */
export function logRange(values: readonly number[]): { min: number; max: number } {
  const positive = values.filter((v) => v > 0 && Number.isFinite(v))
  if (positive.length === 0) return { min: 0.1, max: 10 }
  // One after the other: as arguments of Math.min a long list would not fit the stack.
  let [low, high] = [Infinity, 0]
  for (const value of positive) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  const [min, max] = [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))]
  return { min, max: max > min ? max : min * 10 }
}
