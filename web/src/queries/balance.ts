import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, unwrap } from '../api/client'
import { listenTo, type StreamState } from '../api/events'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type BalancedUnit = components['schemas']['BalancedUnit']
export type BalanceStep = components['schemas']['BalanceStep']

export const balanceKeys = {
  units: (center: string) => ['balance', 'units', center] as const,
  trace: (center: string, unit: string) => ['balance', 'trace', center, unit] as const,
}

/** Of a unit, as many as are shown at once. */
export const mostSteps = 600

/** Units whose transfer and compute a loop balances; of all centers, or of one. */
export function useBalancedUnits(center: string) {
  return useWholeList({
    key: balanceKeys.units(center),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/balanced-units', {
      signal, params: { query: { page_size: 200, ...(center ? { center } : {}), ...(page_token ? { page_token } : {}) } } })),
    refetchInterval: 10_000,
    keepsPrevious: true,
  })
}

/** The steps with one more, in order; the oldest make room. One that is there already changes nothing. */
export function withStep(steps: readonly BalanceStep[], step: BalanceStep, most = mostSteps): readonly BalanceStep[] {
  const newest = steps[steps.length - 1]
  if (newest && newest.number >= step.number) return steps
  return [...steps.slice(Math.max(0, steps.length + 1 - most)), step]
}

/** The step of a message; null when it is none. */
export function parseStep(data: string): BalanceStep | null {
  try {
    const value = JSON.parse(data) as Partial<BalanceStep> | null
    return typeof value?.number === 'number' && typeof value.outcome === 'string' ? (value as BalanceStep) : null
  } catch {
    return null
  }
}

interface LiveState {
  state: StreamState
  /** Since when. */
  since: number
}

/** What a unit's loop did, oldest first, and what it does: the stream adds each step. */
export function useBalanceTrace(center: string, unit: string) {
  const client = useQueryClient()
  const [live, setLive] = useState<LiveState>({ state: 'connecting', since: 0 })
  const query = useQuery({
    queryKey: balanceKeys.trace(center, unit),
    queryFn: async ({ signal }): Promise<readonly BalanceStep[]> => {
      const page = await unwrap(api.GET('/api/v1/centers/{id}/units/{unit}/balance', {
        signal, params: { path: { id: center, unit }, query: { page_size: mostSteps } } }))
      return [...page.items].reverse()
    },
  })
  const isThere = query.data !== undefined

  useEffect(() => {
    if (!isThere) return
    const key = balanceKeys.trace(center, unit)
    const place = `/api/v1/centers/${encodeURIComponent(center)}/units/${encodeURIComponent(unit)}/balance/events`
    return listenTo({
      path: () => {
        const steps = client.getQueryData<readonly BalanceStep[]>(key) ?? []
        return `${place}?after=${steps[steps.length - 1]?.number ?? 0}`
      },
      name: 'balance',
      parse: parseStep,
      onEvent: (step) => client.setQueryData<readonly BalanceStep[]>(key, (steps) => withStep(steps ?? [], step)),
      onState: (state) => setLive((before) => (before.state === state ? before : { state, since: Date.now() })),
    })
  }, [client, center, unit, isThere])

  return { query, live }
}
