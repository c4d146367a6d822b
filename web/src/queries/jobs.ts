import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type Job = components['schemas']['Job']
export type JobSpec = components['schemas']['JobSpec']
export type JobState = components['schemas']['JobState']
export type JobCost = components['schemas']['JobCost']
export type JobOperators = components['schemas']['JobOperators']
export type Placement = components['schemas']['Placement']

export const jobStates: readonly JobState[] = [
  'queued', 'metering', 'placed', 'dispatched', 'running', 'succeeded', 'failed', 'cancelled', 'lost']
const ends: readonly JobState[] = ['succeeded', 'failed', 'cancelled']

export function hasEnded(state: JobState): boolean {
  return ends.includes(state)
}

export interface JobFilters {
  label: 'job' | 'probe' | 'all'
  state: JobState | ''
  project: string
}

export const jobKeys = {
  lists: ['jobs', 'list'] as const,
  list: (filters: JobFilters, size: number) => [...jobKeys.lists, filters, size] as const,
  one: (id: string) => ['jobs', 'one', id] as const,
  part: (id: string, part: 'self' | 'events' | 'placement' | 'cost' | 'operators') => [...jobKeys.one(id), part] as const,
}

export function useJobs(filters: JobFilters, size = 50, enabled = true) {
  return usePages({
    key: jobKeys.list(filters, size),
    enabled,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/jobs', {
      signal,
      params: { query: {
        label: filters.label, page_size: size, ...(filters.state ? { state: filters.state } : {}),
        ...(filters.project ? { project: filters.project } : {}), ...(page_token ? { page_token } : {}),
      } },
    })),
  })
}

const path = (id: string) => ({ params: { path: { id } } })

export function useJob(id: string) {
  return useQuery({ queryKey: jobKeys.part(id, 'self'), queryFn: ({ signal }) => unwrap(api.GET('/api/v1/jobs/{id}', { ...path(id), signal })) })
}

export function useJobEvents(id: string) {
  return usePages({
    key: jobKeys.part(id, 'events'),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/jobs/{id}/events', {
      signal, params: { path: { id }, query: { page_size: 200, ...(page_token ? { page_token } : {}) } },
    })),
  })
}

/** Why the job is where it is; of a waiting job it is decided anew each time, so it is asked for now and then. */
export function usePlacement(id: string, isWaiting: boolean) {
  return useQuery({
    queryKey: jobKeys.part(id, 'placement'),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/jobs/{id}/placement', { ...path(id), signal })),
    refetchInterval: isWaiting ? 5000 : false,
  })
}

export function useJobCost(id: string) {
  return useQuery({ queryKey: jobKeys.part(id, 'cost'), queryFn: ({ signal }) => unwrap(api.GET('/api/v1/jobs/{id}/cost', { ...path(id), signal })) })
}

export function useJobOperators(id: string) {
  return useQuery({
    queryKey: jobKeys.part(id, 'operators'),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/jobs/{id}/operators', { ...path(id), signal })),
  })
}

export function cancelJob(id: string) {
  return unwrap(api.POST('/api/v1/jobs/{id}:cancel', path(id)))
}

export function useCancelJob() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: cancelJob,
    onSettled: (_, __, id) => Promise.all([
      client.invalidateQueries({ queryKey: jobKeys.one(id) }), client.invalidateQueries({ queryKey: jobKeys.lists })]),
  })
}

/** Submits; repeating the very same submission with its key makes no second job. */
export function useSubmitJob() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ spec, key }: { spec: JobSpec; key: string }) => unwrap(api.POST('/api/v1/jobs', {
      params: { header: { 'Idempotency-Key': key } }, body: spec,
    })),
    onSuccess: () => client.invalidateQueries({ queryKey: jobKeys.lists }),
  })
}

export { idempotencyKey }
