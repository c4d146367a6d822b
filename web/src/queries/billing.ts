import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type Statement = components['schemas']['Statement']
export type BillingPeriod = components['schemas']['BillingPeriod']
export type LedgerCheck = components['schemas']['LedgerCheck']

export interface StatementOf {
  of: 'project' | 'center'
  name: string
  period: string
}

export const billingKeys = {
  periods: ['billing', 'periods'] as const,
  statements: ['billing', 'statement'] as const,
  statement: (of: StatementOf) => ['billing', 'statement', of] as const,
}

export function useBillingPeriods() {
  return useQuery({
    queryKey: billingKeys.periods,
    queryFn: async ({ signal }) => (await unwrap(api.GET('/api/v1/billing-periods', { signal }))).items,
  })
}

export function useStatement(of: StatementOf) {
  return useQuery({
    queryKey: billingKeys.statement(of),
    // The other formats of the same address are text.
    queryFn: async ({ signal }) => (await unwrap(api.GET('/api/v1/statements', { signal, params: { query: {
      period: of.period, ...(of.of === 'project' ? { project: of.name } : { center: of.name }) } } }))) as Statement,
    enabled: of.name !== '' && of.period !== '',
  })
}

/** Has the server check the whole ledger: it takes a while, so it is only done when asked for. */
export function useVerifyLedger() {
  return useMutation({ mutationFn: () => unwrap(api.GET('/api/v1/ledger:verify')) })
}

export function useClosePeriod() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (period: string) => unwrap(api.POST('/api/v1/billing-periods/{period}/close', { params: { path: { period } } })),
    onSuccess: () => Promise.all([
      client.invalidateQueries({ queryKey: billingKeys.periods }), client.invalidateQueries({ queryKey: billingKeys.statements })]),
  })
}
