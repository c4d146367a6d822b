import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { useChangeAccount, useCreateAccount } from './accounts'
import { useCreateEnrolmentToken } from './centers'
import { useCreateToken } from './tokens'

const answer = () => Promise.resolve({})
vi.mock('../api/client', () => ({ api: { POST: () => answer(), PATCH: () => answer() }, idempotencyKey: () => 'key', unwrap: (value: unknown) => value }))

afterEach(cleanup)

/** What is sent with a secret, or answered with one. */
const acts: { name: string; useAct: () => () => Promise<unknown> }[] = [
  { name: 'a new account', useAct: () => {
    const create = useCreateAccount()
    return () => create.mutateAsync({ name: 'ada', role: 'user', password: 'a staple for a battery' })
  } },
  { name: 'a new password', useAct: () => {
    const change = useChangeAccount()
    return () => change.mutateAsync({ name: 'ada', change: { password: 'a staple for a battery' } })
  } },
  { name: 'an API token', useAct: () => {
    const create = useCreateToken()
    return () => create.mutateAsync({ name: 'batch', role: 'user' })
  } },
  { name: 'an enrolment token', useAct: () => {
    const create = useCreateEnrolmentToken()
    return () => create.mutateAsync({ center_name: 'alpha', valid_s: 3600 })
  } },
]

it.each(acts)('once its page is left, nothing of it is kept: $name', async ({ useAct }) => {
  const client = new QueryClient()
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>
  const { result, unmount } = renderHook(useAct, { wrapper })
  await act(async () => {
    await result.current()
  })
  expect(client.getMutationCache().getAll()).toHaveLength(1)
  unmount()
  await vi.waitFor(() => {
    expect(client.getMutationCache().getAll()).toEqual([])
  })
})
