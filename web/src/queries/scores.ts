import { api, unwrap } from '../api/client'
import { useListInParts, useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Score = components['schemas']['Score']
export type GroupedScore = components['schemas']['GroupedScore']
export type ScorePoint = components['schemas']['ScorePoint']
export type AnyScore = Score | GroupedScore
export type ScoreOf = 'operator' | 'job_type' | 'category' | 'unit_type'

export const scoreSubjects: readonly ScoreOf[] = ['operator', 'unit_type', 'category', 'job_type']

export interface ScoreFilters {
  by: ScoreOf
  policy: string
  center: string
  /** Id of the operator, or name of the category or job type. */
  name: string
}

/** A table of scores needs all of them, and shows the first while they are read; of a network that has more, it is cut. */
export function useScores(filters: ScoreFilters) {
  const { by, policy, center, name } = filters
  return useListInParts<AnyScore>({
    key: ['metering', 'scores', filters],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/scores', { signal, params: { query: {
      by, page_size: 1000, ...(policy ? { policy } : {}), ...(center ? { center } : {}), ...(name && by !== 'unit_type' ? { [by]: name } : {}),
      ...(page_token ? { page_token } : {}) } } })),
    // Measurements arrive without an event of their own.
    refetchInterval: 30_000,
    keepsPrevious: true,
  })
}

export interface HistoryFilters {
  /** Id, or center/unit_type. */
  unit_type: string
  operator: string
  /** Of the operator; '' for the one in use. */
  version: string
  policy: string
}

/** More points than these are not read: the newest are told, and that there are more. */
const mostPoints = 1000

/** How an operator did on a unit type since then, the newest first. */
export function useScoreHistory({ unit_type, operator, version, policy }: HistoryFilters, since: string) {
  return useWholeList<ScorePoint>({
    key: ['metering', 'score-history', unit_type, operator, version, policy, since],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/scores/history', { signal, params: { query: {
      unit_type, operator, since, page_size: 500, ...(Number(version) >= 1 ? { version: Number(version) } : {}), ...(policy ? { policy } : {}),
      ...(page_token ? { page_token } : {}) } } })),
    limit: mostPoints,
    enabled: unit_type !== '' && operator !== '',
    refetchInterval: 60_000,
    keepsPrevious: true,
  })
}
