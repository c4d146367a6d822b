import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, idempotencyKey, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components, operations } from '../api/schema'

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

export type JobSort = NonNullable<NonNullable<operations['listJobs']['parameters']['query']>['sort']>
export const jobSorts: readonly JobSort[] = [
  'submitted', '-submitted', 'name', '-name', 'project', '-project', 'state', '-state', 'type', '-type']
export type JobGroups = components['schemas']['JobGroups']
export type JobGroup = JobGroups['groups'][number]
export const jobGroupings: readonly JobGroups['by'][] = ['state', 'project', 'type', 'center']

export interface JobFilters {
  label: 'job' | 'probe' | 'all'
  state: JobState | ''
  project: string
  /** What the name begins with. */
  name?: string
  type?: string
  /** Of the newest attempt: id or name. */
  center?: string
  /** Of the newest attempt: id, or center/unit type. */
  unit_type?: string
  /** Id of the token. */
  submitted_by?: string
  submitted_after?: string
  submitted_before?: string
  /** Left out: the newest first. */
  sort?: JobSort
}

/** What REST is asked with: only what is filtered by. */
export function filterQuery({ label, state, ...texts }: Omit<JobFilters, 'sort'>) {
  const given: Partial<Record<keyof typeof texts, string>> = {}
  for (const name of filterTexts) if (texts[name]) given[name] = texts[name]
  return { label, ...(state ? { state } : {}), ...given }
}
const filterTexts = ['project', 'name', 'type', 'center', 'unit_type', 'submitted_by', 'submitted_after', 'submitted_before'] as const

export const jobKeys = {
  lists: ['jobs', 'list'] as const,
  list: (filters: JobFilters, size: number) => [...jobKeys.lists, filters, size] as const,
  groups: ['jobs', 'groups'] as const,
  one: (id: string) => ['jobs', 'one', id] as const,
  part: (id: string, part: 'self' | 'events' | 'placement' | 'cost' | 'operators') => [...jobKeys.one(id), part] as const,
}

export function useJobs(filters: JobFilters, size = 50, enabled = true) {
  const query = usePages({
    key: jobKeys.list(filters, size),
    enabled,
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/jobs', {
      signal,
      params: { query: {
        ...filterQuery(filters), page_size: size, ...(filters.sort ? { sort: filters.sort } : {}), ...(page_token ? { page_token } : {}),
      } },
    })),
  })
  // Of a list by state, a job that changes between two pages is on both.
  const all = query.items
  const items = useMemo(() => all && [...new Map(all.map((job) => [job.id, job])).values()], [all])
  return { ...query, items }
}

/** How many jobs that fit the filters there are by what they have in common; null: nobody asks. */
export function useJobGroups(filters: JobFilters, by: JobGroups['by'] | null) {
  return useQuery({
    queryKey: [...jobKeys.groups, filters, by],
    enabled: by !== null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/job-groups', { signal, params: { query: {
      by: by ?? 'state', ...filterQuery(filters),
    } } })),
  })
}

const path = (id: string) => ({ params: { path: { id } } })

/** How far the fetching of a running job's inputs is makes no event, so such a job is asked for now and then. */
export function useJob(id: string) {
  return useQuery({
    queryKey: jobKeys.part(id, 'self'),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/jobs/{id}', { ...path(id), signal })),
    refetchInterval: (query) => (query.state.data?.state === 'running' && query.state.data.spec.inputs?.length ? 10_000 : false),
  })
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
