import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type UnitUse = components['schemas']['UnitUse']
export type UnitTypeUse = components['schemas']['UnitTypeUse']

export const unitUseKeys = { all: ['unit-use'] as const }

/** How many unit types are named: those that a page has room for. */
const mostNamed = 12

/** How full the network is, and its fullest unit types. */
export function useUnitUse() {
  return useQuery({
    queryKey: unitUseKeys.all,
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/unit-use', { signal, params: { query: { fullest: mostNamed } } })),
    refetchInterval: 15_000,
  })
}
