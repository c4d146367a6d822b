import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { readAll, usePages } from '../api/pages'
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
    read: (page_token, signal) => unwrap(api.GET('/api/v1/usage', {
      signal, params: { query: {
        page_size: 100, page_token, project: filters.project || undefined, center: filters.center || undefined,
        job_id: filters.job_id || undefined, from: filters.from || undefined, until: filters.until || undefined,
      } } })),
  })
}

export const mostUsageRecords = 5000

/** What a project has used since a day, the newest records at most. */
export function useUsageSince(project: string, from: string) {
  return useQuery({
    queryKey: usageKeys.since(project, from),
    queryFn: () => readAll((page_token) => unwrap(api.GET('/api/v1/usage', {
      params: { query: { project, from, page_size: 1000, page_token } } })), mostUsageRecords),
  })
}

/** Every record of a center in some time, newest first. */
export function readUsage({ center, from, until }: { center: string; from: string; until: string }) {
  return readAll((page_token) => unwrap(api.GET('/api/v1/usage', {
    params: { query: { center, from, until, page_size: 1000, page_token } } })), Infinity)
}

export function useScoreEvidence(id: string) {
  return useQuery({
    queryKey: usageKeys.evidence(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/score-evidence/{id}', { signal, params: { path: { id } } })),
    staleTime: Infinity,
  })
}
