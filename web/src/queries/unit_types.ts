import { api, unwrap } from '../api/client'
import { useListInParts, useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type UnitType = components['schemas']['UnitType']

export const unitTypeKeys = {
  all: ['unit-types'] as const,
  list: (center: string) => ['unit-types', 'list', center] as const,
  /** Not among `all`: advice follows probes, not jobs. */
  advised: ['advised unit-types'] as const,
}

function list(center: string) {
  return {
    key: unitTypeKeys.list(center),
    read: (page_token: string | undefined, signal: AbortSignal) => unwrap(api.GET('/api/v1/unit-types', {
      signal, params: { query: { page_size: 1000, ...(center ? { center } : {}), ...(page_token ? { page_token } : {}) } } })),
  }
}

/** Unit types of one center, or of all ('' ). */
export function useUnitTypes(center = '', enabled = true) {
  return useWholeList({ ...list(center), enabled })
}

/** Those whose newest probe says what holds them back. */
export function useAdvisedUnitTypes(enabled: boolean) {
  const everyMs = 300_000
  return useWholeList({
    key: unitTypeKeys.advised,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/unit-types', {
      signal, params: { query: { advised: true, page_size: 1000, ...(page_token ? { page_token } : {}) } } })),
    refetchInterval: everyMs,
    staleTime: everyMs,
    enabled,
  })
}

/** Those of all centers, also while they are read. */
export function useUnitTypesInParts() {
  return useListInParts(list(''))
}
