import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Center = components['schemas']['Center']
export type EnrolmentToken = components['schemas']['EnrolmentToken']
export type CreatedEnrolmentToken = components['schemas']['CreatedEnrolmentToken']

export const centerKeys = {
  all: ['centers'] as const,
  list: ['centers', 'list'] as const,
  one: (key: string) => ['centers', 'one', key] as const,
  enrolments: ['enrolment-tokens'] as const,
}

// A center's health changes without an event: it is asked for now and then.
const refetchInterval = 10_000

export function useCenters(enabled = true) {
  return useWholeList({
    key: centerKeys.list,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/centers', {
      signal, params: { query: { page_size: 1000, ...(page_token ? { page_token } : {}) } } })),
    refetchInterval,
    enabled,
  })
}

export function useCenter(id: string) {
  return useQuery({
    queryKey: centerKeys.one(id),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/centers/{id}', { params: { path: { id } }, signal })),
    refetchInterval,
  })
}

function useCenterChange<Values>(mutationFn: (values: Values) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: centerKeys.all }) })
}

/** Drains a center or lets it work again; refused when somebody else has changed it since it was read. */
export function useDrainCenter() {
  return useCenterChange(({ center, ...body }: { center: Center; drained: boolean; drain_reason?: string }) => unwrap(api.PATCH('/api/v1/centers/{id}', {
    params: { path: { id: center.id }, header: { 'If-Match': `"${center.version}"` } }, body,
  })))
}

export function useRevokeCenter() {
  return useCenterChange((id: string) => unwrap(api.POST('/api/v1/centers/{id}:revoke', {
    params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey() } } })))
}

export function useReleaseCenter() {
  return useCenterChange((id: string) => unwrap(api.POST('/api/v1/centers/{id}:release', {
    params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey() } } })))
}

export function useEnrolmentTokens(enabled: boolean) {
  return useQuery({
    queryKey: centerKeys.enrolments,
    queryFn: () => unwrap(api.GET('/api/v1/enrolment-tokens', { params: { query: { page_size: 50 } } })),
    enabled,
  })
}

export function useCreateEnrolmentToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (order: { center_name: string; valid_s: number }) => unwrap(api.POST('/api/v1/enrolment-tokens', {
      params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: order })),
    gcTime: 0, // its answer holds a secret
    onSuccess: () => client.invalidateQueries({ queryKey: centerKeys.enrolments }),
  })
}

export function useWithdrawEnrolmentToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/v1/enrolment-tokens/{id}', { params: { path: { id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: centerKeys.enrolments }),
  })
}
