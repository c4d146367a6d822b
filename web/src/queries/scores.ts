import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Score = components['schemas']['Score']
export type GroupedScore = components['schemas']['GroupedScore']
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

/** A table of scores needs all of them; of a network that has more, it is cut. */
export function useScores(filters: ScoreFilters) {
  const { by, policy, center, name } = filters
  return useWholeList<AnyScore>({
    key: ['metering', 'scores', filters],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/scores', { signal, params: { query: {
      by, page_size: 1000, ...(policy ? { policy } : {}), ...(center ? { center } : {}), ...(name && by !== 'unit_type' ? { [by]: name } : {}),
      ...(page_token ? { page_token } : {}) } } })),
    // Measurements arrive without an event of their own.
    refetchInterval: 30_000,
    keepsPrevious: true,
  })
}
