import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'
import { probeKeys } from './probe_keys'

export type ProbeRun = components['schemas']['ProbeRun']
export type ProbeRunOrder = components['schemas']['ProbeRunOrder']
export type ProbeRunItems = components['schemas']['ProbeRunItems']
export type OperatorResult = components['schemas']['OperatorResult']
export type RunState = ProbeRun['state']

export const runStates: readonly RunState[] = ['queued', 'succeeded', 'failed', 'cancelled', 'lost']

export interface RunFilters {
  state: RunState | ''
  unit_type: string
  probe_task: string
}

export function useProbeRuns(filters: RunFilters, size = 50) {
  return usePages({
    key: [...probeKeys.runs, filters, size],
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/probe-runs', {
      signal, params: { query: {
        page_size: size, ...(filters.state ? { state: filters.state } : {}), ...(filters.unit_type ? { unit_type: filters.unit_type } : {}),
        ...(filters.probe_task ? { probe_task: filters.probe_task } : {}), ...(page_token ? { page_token } : {}) } } })),
  })
}

export function useProbeRun(id: string) {
  return useQuery({
    queryKey: probeKeys.run(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/probe-runs/{id}', { params: { path: { id } }, signal })),
    refetchInterval: (query) => (query.state.data?.state === 'queued' || query.state.data?.verification === 'pending' ? 3000 : false),
  })
}

/** All runs of an order, compared; asked for again while one of them has not ended. */
export function useProbeOrder(id: string) {
  return useQuery({
    queryKey: probeKeys.order(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/probe-orders/{id}', { params: { path: { id } }, signal })),
    refetchInterval: (query) => (query.state.data?.runs.some((run) => run.state === 'queued') ? 3000 : false),
    enabled: id !== '',
  })
}

/** Orders measurements; repeating the very same order with its key measures nothing twice. */
export function useMeasure() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ order, key }: { order: ProbeRunOrder; key: string }) => unwrap(api.POST('/api/v1/probe-runs', {
      params: { header: { 'Idempotency-Key': key } }, body: order })),
    onSuccess: () => client.invalidateQueries({ queryKey: probeKeys.runs }),
  })
}
