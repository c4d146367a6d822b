import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { JobState } from './jobs'

export const queueKeys = { all: ['queue'] as const }

/** Jobs that have not ended, by state, out of the server's metrics: the only place that counts them all. */
export function useQueueDepth() {
  return useQuery({
    queryKey: queueKeys.all,
    queryFn: async ({ signal }) => parseDepth(await unwrap(api.GET('/metrics', { parseAs: 'text', signal }))),
    refetchInterval: 15_000,
  })
}

export function parseDepth(metrics: string): Partial<Record<JobState, number>> {
  const depth: Partial<Record<JobState, number>> = {}
  for (const match of metrics.matchAll(/^fathom_jobs\{state="(\w+)"\} (\d+)/gm)) depth[match[1] as JobState] = Number(match[2])
  return depth
}
