import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import { findingKeys, type ProbeFinding } from './findings'

export type FindingKind = ProbeFinding['kind']

export const findingKinds: readonly FindingKind[] = [
  'checksum', 'clock', 'rate', 'version', 'wrong_result', 'nonsense', 'doubled', 'late']
/** These cannot come about honestly: each open one costs its unit type trust. */
export const costlyKinds: readonly FindingKind[] = ['checksum', 'clock', 'rate']

export interface FindingFilters {
  center: string
  kind: FindingKind | ''
  open: 'open' | 'dismissed' | ''
}

export function useFindings(filters: FindingFilters) {
  return usePages({
    key: [...findingKeys.all, 'list', filters],
    refetchInterval: 30_000,
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/probe-findings', {
      signal, params: { query: {
        page_size: 50, ...(filters.center ? { center: filters.center } : {}), ...(filters.kind ? { kind: filters.kind } : {}),
        ...(filters.open ? { open: filters.open === 'open' } : {}), ...(page_token ? { page_token } : {}) } } })),
  })
}

export function useDismissFinding() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, reason }: { id: string; reason: string }) => unwrap(api.POST('/api/v1/probe-findings/{id}:dismiss', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey() } }, body: { reason } })),
    onSettled: () => client.invalidateQueries({ queryKey: findingKeys.all }),
  })
}
