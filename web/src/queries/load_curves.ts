import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type LoadCurve = components['schemas']['LoadCurve']

/** How much slower operators are on a unit of a type beside busy neighbours: one curve for each operator of the library at most. */
export function useLoadCurves(unitType: string) {
  return useWholeList<LoadCurve>({
    key: ['metering', 'loads', unitType],
    refetchInterval: 60_000,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/load-curves', {
      signal, params: { query: { unit_type: unitType, page_size: 200, ...(page_token ? { page_token } : {}) } } })),
  })
}
