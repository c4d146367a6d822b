import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type ScalingCurve = components['schemas']['ScalingCurve']

export interface CurveFilters {
  center: string
  operator: string
}

export function useScalingCurves({ center, operator }: CurveFilters) {
  return usePages({
    key: ['metering', 'curves', center, operator],
    refetchInterval: 60_000,
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/scaling-curves', {
      signal, params: { query: {
        page_size: 50, ...(center ? { center } : {}), ...(operator ? { operator } : {}), ...(page_token ? { page_token } : {}) } } })),
  })
}
