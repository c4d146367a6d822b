import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { readAll } from '../api/pages'
import type { components } from '../api/schema'

export type UnitType = components['schemas']['UnitType']

export const unitTypeKeys = {
  all: ['unit-types'] as const,
  list: (center: string) => ['unit-types', 'list', center] as const,
}

/** Unit types of one center, or of all ('' ). */
export function useUnitTypes(center = '') {
  return useQuery({
    queryKey: unitTypeKeys.list(center),
    queryFn: () => readAll((page_token) => unwrap(api.GET('/api/v1/unit-types', {
      params: { query: { page_size: 1000, ...(center ? { center } : {}), ...(page_token ? { page_token } : {}) } } }))),
  })
}
