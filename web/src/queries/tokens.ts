import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Token = components['schemas']['Token']
export type TokenOrder = components['schemas']['TokenOrder']
export type CreatedToken = components['schemas']['CreatedToken']

export const tokenKeys = { all: ['tokens'] as const }

export function useTokens() {
  return useWholeList({
    key: tokenKeys.all,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/tokens', { signal, params: { query: { page_size: 1000, page_token } } })),
  })
}

export function useCreateToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (order: TokenOrder) => unwrap(api.POST('/api/v1/tokens', {
      params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: order })),
    gcTime: 0, // its answer holds a secret
    onSuccess: () => client.invalidateQueries({ queryKey: tokenKeys.all }),
  })
}

export function useRevokeToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: tokenKeys.all }),
  })
}
