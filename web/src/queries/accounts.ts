import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Account = components['schemas']['Account']
export type AccountOrder = components['schemas']['AccountOrder']
export type AccountChange = components['schemas']['AccountChange']
export type Role = components['schemas']['Role']

export const roles: readonly Role[] = ['viewer', 'user', 'expert', 'operator', 'billing', 'auditor', 'admin']

export const accountKeys = { all: ['accounts'] as const }

/** All of them: who looks for one must not have to load page after page. */
export function useAccounts() {
  return useWholeList({
    key: accountKeys.all,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/users', { signal, params: { query: { page_size: 200, page_token } } })),
  })
}

function useAccountMutation<Values>(mutationFn: (values: Values) => Promise<unknown>) {
  const client = useQueryClient()
  // An order may hold a password: it is not kept once it was sent.
  return useMutation({ mutationFn, gcTime: 0, onSuccess: () => client.invalidateQueries({ queryKey: accountKeys.all }) })
}

export function useCreateAccount() {
  return useAccountMutation((order: AccountOrder) => unwrap(api.POST('/api/v1/users', {
    params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: order })))
}

export function useChangeAccount() {
  return useAccountMutation(({ name, change }: { name: string; change: AccountChange }) =>
    unwrap(api.PATCH('/api/v1/users/{name}', { params: { path: { name } }, body: change })))
}

export function useRemoveAccount() {
  return useAccountMutation((name: string) => unwrap(api.DELETE('/api/v1/users/{name}', { params: { path: { name } } })))
}
