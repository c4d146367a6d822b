import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type SigningKey = components['schemas']['OperatorKey']
export type SigningKeyOrder = components['schemas']['OperatorKeyOrder']

const keys = { all: ['signing-keys'] as const }

/** The keys whose holders may upload operators. */
export function useSigningKeys() {
  return usePages({
    key: keys.all,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/operator-keys', { signal, params: { query: { page_size: 200, page_token } } })),
  })
}

export function useAddSigningKey() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ order, key }: { order: SigningKeyOrder; key: string }) => unwrap(api.POST('/api/v1/operator-keys', {
      params: { header: { 'Idempotency-Key': key } }, body: order })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.all }),
  })
}

export function useRevokeSigningKey() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/v1/operator-keys/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.all }),
  })
}
