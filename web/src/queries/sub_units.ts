import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type SubUnitKind = components['schemas']['SubUnitKind']
export type SubUnitHolding = components['schemas']['SubUnitHolding']
export type SubUnitOrder = components['schemas']['SubUnitOrder']
export type SubUnitRequest = components['schemas']['SubUnitRequest']
export type SubUnitGrant = components['schemas']['SubUnitGrant']
export type SubUnitEvent = components['schemas']['SubUnitEvent']

export const subUnitKeys = { all: ['sub-units'] as const }

/** They move within seconds of a job's end, and nobody announces it. */
const refetchInterval = 10_000

export function useSubUnitKinds() {
  return usePages({
    key: [...subUnitKeys.all, 'kinds'], refetchInterval,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/sub-units', { signal, params: { query: { page_size: 200, page_token } } })),
  })
}

export function useSubUnitRequests(filters: { kind: string; open: boolean }) {
  return usePages({
    key: [...subUnitKeys.all, 'requests', filters], refetchInterval, keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/sub-unit-requests', {
      signal, params: { query: { page_size: 50, page_token, ...(filters.kind ? { kind: filters.kind } : {}), ...(filters.open ? { open: true } : {}) } } })),
  })
}

export function useSubUnitGrants(kind: string) {
  return usePages({
    key: [...subUnitKeys.all, 'grants', kind], refetchInterval, keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/sub-unit-grants', {
      signal, params: { query: { page_size: 50, page_token, ...(kind ? { kind } : {}) } } })),
  })
}

/** Every change, the newest first. */
export function useSubUnitEvents(kind: string) {
  return usePages({
    key: [...subUnitKeys.all, 'events', kind], refetchInterval, keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/sub-unit-events', {
      signal, params: { query: { page_size: 50, page_token, ...(kind ? { kind } : {}) } } })),
  })
}

function useSubUnitMutation<Values>(mutationFn: (values: Values) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: subUnitKeys.all }) })
}

export function useAskForSubUnits() {
  return useSubUnitMutation(({ order, key }: { order: SubUnitOrder; key: string }) => unwrap(api.POST('/api/v1/sub-unit-requests', {
    params: { header: { 'Idempotency-Key': key } }, body: order })))
}

export function useCancelSubUnitRequest() {
  return useSubUnitMutation((id: string) => unwrap(api.DELETE('/api/v1/sub-unit-requests/{id}', { params: { path: { id } } })))
}

export function useUndoSubUnitGrant() {
  return useSubUnitMutation(({ id, key }: { id: string; key: string }) => unwrap(api.POST('/api/v1/sub-unit-grants/{id}:undo', {
    params: { path: { id }, header: { 'Idempotency-Key': key } } })))
}
