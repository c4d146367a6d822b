import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type Cycle = components['schemas']['Cycle']
export type CycleJob = components['schemas']['CycleJob']
export type CycleReplay = components['schemas']['CycleReplay']
export type JobInCycle = components['schemas']['JobInCycle']

export interface CycleFilters {
  /** RFC 3339; '': any time. */
  since: string
  until: string
}

export const cycleKeys = {
  list: (filters: CycleFilters) => ['cycles', 'list', filters] as const,
  one: (id: string) => ['cycles', 'one', id] as const,
  jobs: (id: string) => [...cycleKeys.one(id), 'jobs'] as const,
  replay: (id: string, job: string) => [...cycleKeys.one(id), 'replay', job] as const,
}

/** What is kept never changes, and goes some day: then it is asked for no more. */
const kept = { staleTime: Infinity, retry: false } as const

/** The newest first. */
export function useCycles({ since, until }: CycleFilters) {
  return usePages({
    key: cycleKeys.list({ since, until }),
    keepsPrevious: true,
    refetchInterval: 30_000,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/cycles', { signal, params: { query: {
      page_size: 100, page_token, ...(since ? { since } : {}), ...(until ? { until } : {}) } } })),
  })
}

export function useCycle(id: string) {
  return useQuery({
    ...kept,
    queryKey: cycleKeys.one(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/cycles/{id}', { signal, params: { path: { id } } })),
  })
}

/** The jobs that it decided on: those that start, then those that wait. */
export function useCycleJobs(id: string) {
  return usePages({
    key: cycleKeys.jobs(id),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/cycles/{id}/jobs', {
      signal, params: { path: { id }, query: { page_size: 200, ...(page_token ? { page_token } : {}) } },
    })),
  })
}

/** Has the server decide the cycle again, when it is asked to; `job`: whose place in it is explained, or ''. */
export function useReplay(id: string, job: string, isAsked: boolean) {
  return useQuery({
    ...kept,
    queryKey: cycleKeys.replay(id, job),
    enabled: isAsked,
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/cycles/{id}/replay', { signal, params: { path: { id }, query: job ? { job } : {} } })),
  })
}
