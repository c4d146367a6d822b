import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'
import { probeKeys } from './probe_keys'

export type ProbeTask = components['schemas']['ProbeTask']
export type ProbeTaskState = components['schemas']['ProbeTaskState']
export type ProbeTaskOrder = components['schemas']['ProbeTaskOrder']
export type ProbeTaskDocument = components['schemas']['ProbeTaskDocument']
export type ResultComparison = components['schemas']['ResultComparison']

export const taskStates: readonly ProbeTaskState[] = ['draft', 'testing', 'tested', 'released', 'refused', 'retired']

export interface TaskFilters {
  state: ProbeTaskState | ''
  job_type: string
}

export function useProbeTasks(filters: TaskFilters, size = 50) {
  return usePages({
    key: [...probeKeys.tasks, filters, size],
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/probe-tasks', {
      signal, params: { query: {
        page_size: size, ...(filters.state ? { state: filters.state } : {}), ...(filters.job_type ? { job_type: filters.job_type } : {}),
        ...(page_token ? { page_token } : {}) } } })),
  })
}

export function useProbeTask(id: string) {
  return useQuery({
    queryKey: probeKeys.task(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/probe-tasks/{id}', { params: { path: { id } }, signal })),
    refetchInterval: (query) => (query.state.data?.state === 'testing' ? 2000 : false),
  })
}

export function useTaskComparison(id: string) {
  return useQuery({
    queryKey: probeKeys.comparison(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/probe-tasks/{id}/comparison', { params: { path: { id } }, signal })),
  })
}

/** The tasks that were made: one, or one for each independent part. */
export function useCreateTask() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ order, key }: { order: ProbeTaskOrder; key: string }): Promise<readonly ProbeTask[]> => {
      const made = await unwrap(api.POST('/api/v1/probe-tasks', { params: { header: { 'Idempotency-Key': key } }, body: order }))
      return 'items' in made ? made.items : [made]
    },
    onSettled: () => client.invalidateQueries({ queryKey: probeKeys.tasks }),
  })
}

export type TaskAct = 'test' | 'release' | 'retire'

/** Takes a task a step on, on the condition that nobody else has meanwhile. */
export function useTaskAct() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ task, act }: { task: ProbeTask; act: TaskAct }) => {
      const params = { path: { id: task.id }, header: { 'Idempotency-Key': idempotencyKey(), 'If-Match': `"${task.version}"` } }
      if (act === 'test') return unwrap(api.POST('/api/v1/probe-tasks/{id}:test', { params }))
      if (act === 'release') return unwrap(api.POST('/api/v1/probe-tasks/{id}:release', { params }))
      return unwrap(api.POST('/api/v1/probe-tasks/{id}:retire', { params }))
    },
    onSettled: () => client.invalidateQueries({ queryKey: probeKeys.all }),
  })
}
