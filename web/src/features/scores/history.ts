import type { Score, ScorePoint } from '../../queries/scores'
import { formatSize } from '../../ui/rates'

export type HistoryFigure = 'score' | 'rate'

/** The measurements at one size on so many units: only these are alike. */
export interface HistorySeries {
  key: string
  size: string
  units: number
  /** The oldest first. */
  points: ScorePoint[]
}

/** Where the history of a score is shown. */
export function historyPath(score: Score, policy: string): string {
  const query = new URLSearchParams({
    unit_type: score.unit_type_id, operator: score.operator, version: String(score.operator_version),
    series: seriesKey(score), ...(policy ? { policy } : {}) })
  return `/scores/history?${query.toString()}`
}

function seriesKey(point: Pick<ScorePoint, 'parameters' | 'unit_count'>): string {
  return `${formatSize(point.parameters)} ${point.unit_count}`
}

/** Those with the most points first. */
export function seriesOf(points: readonly ScorePoint[]): HistorySeries[] {
  const all = new Map<string, HistorySeries>()
  for (const point of points) {
    const key = seriesKey(point)
    const series = all.get(key) ?? { key, size: formatSize(point.parameters), units: point.unit_count, points: [] }
    series.points.push(point)
    all.set(key, series)
  }
  for (const series of all.values()) series.points.sort((a, b) => a.measured_at.localeCompare(b.measured_at))
  return [...all.values()].sort((a, b) => b.points.length - a.points.length || a.key.localeCompare(b.key))
}

/** Whether an operator is told by its operations; else it is by its bytes. */
export function countsOperations(points: readonly ScorePoint[]): boolean {
  return points.some((point) => point.rate_flops > 0)
}

/** What is drawn: time and figure. What was found to be false is not, and what has no score has no place in a line of scores. */
export function drawnOf(series: HistorySeries, figure: HistoryFigure): [string, number][] {
  return series.points.flatMap((point): [string, number][] => {
    const value = figure === 'score' ? point.score : point.rate_flops > 0 ? point.rate_flops : point.rate_bytes
    return value === null || point.void_reason !== null ? [] : [[point.measured_at, value]]
  })
}
