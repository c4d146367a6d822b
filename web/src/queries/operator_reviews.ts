import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'
import type { OperatorPackage } from './operator_library'
import { operatorKeys } from './operators'

export type OperatorReview = components['schemas']['OperatorReview']

const reviewKey = [...operatorKeys.all, 'reviews'] as const

/** What centers have submitted and nobody has decided on. */
export function useOperatorReviews() {
  return usePages({
    key: reviewKey,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/operator-reviews', {
      signal, params: { query: { page_size: 200, state: 'awaiting_review', ...(page_token ? { page_token } : {}) } } })),
  })
}

/** The signed package of one that waits, to be saved. */
export function useReadReviewedPackage() {
  return useMutation({
    mutationFn: (id: string): Promise<OperatorPackage> => unwrap(api.GET('/api/v1/operator-reviews/{id}/package', { params: { path: { id } } })),
  })
}

export function useApproveOperator() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, key }: { id: string; key: string }) => unwrap(api.POST('/api/v1/operator-reviews/{id}:approve', {
      params: { path: { id }, header: { 'Idempotency-Key': key } } })),
    onSettled: () => client.invalidateQueries({ queryKey: operatorKeys.all }),
  })
}

export function useRejectOperator() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, reason, key }: { id: string; reason: string; key: string }) => unwrap(api.POST('/api/v1/operator-reviews/{id}:reject', {
      params: { path: { id }, header: { 'Idempotency-Key': key } }, body: { reason } })),
    onSettled: () => client.invalidateQueries({ queryKey: operatorKeys.all }),
  })
}
