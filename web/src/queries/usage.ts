import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { readAll, usePages, useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type UsageRecord = components['schemas']['UsageRecord']
export type ScoreEvidence = components['schemas']['ScoreEvidence']

export interface UsageFilters {
  project: string
  center: string
  job_id: string
  from: string
  until: string
}

export const usageKeys = {
  all: ['usage'] as const,
  list: (filters: UsageFilters) => ['usage', 'list', filters] as const,
  since: (project: string, from: string) => ['usage', 'since', project, from] as const,
  evidence: (id: string) => ['score-evidence', id] as const,
}

export function useUsage(filters: UsageFilters) {
  return usePages({
    key: usageKeys.list(filters),
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/usage', {
      signal, params: { query: {
        page_size: 100, page_token, project: filters.project || undefined, center: filters.center || undefined,
        job_id: filters.job_id || undefined, from: filters.from || undefined, until: filters.until || undefined,
      } } })),
  })
}

/** What a project has used since a day; cut: only the newest records. */
export function useUsageSince(project: string, from: string) {
  return useWholeList({
    key: usageKeys.since(project, from),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/usage', {
      signal, params: { query: { project, from, page_size: 1000, page_token } } })),
  })
}

/** Every record of a center in some time, newest first. */
export async function readUsage({ center, from, until }: { center: string; from: string; until: string }) {
  const list = await readAll((page_token) => unwrap(api.GET('/api/v1/usage', {
    params: { query: { center, from, until, page_size: 1000, page_token } } })), Infinity)
  return list.items
}

export function useScoreEvidence(id: string) {
  return useQuery({
    queryKey: usageKeys.evidence(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/score-evidence/{id}', { signal, params: { path: { id } } })),
    staleTime: Infinity,
  })
}
