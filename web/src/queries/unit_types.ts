import { api, unwrap } from '../api/client'
import { useListInParts, useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type UnitType = components['schemas']['UnitType']

export const unitTypeKeys = {
  all: ['unit-types'] as const,
  list: (center: string) => ['unit-types', 'list', center] as const,
}

function list(center: string) {
  return {
    key: unitTypeKeys.list(center),
    read: (page_token: string | undefined, signal: AbortSignal) => unwrap(api.GET('/api/v1/unit-types', {
      signal, params: { query: { page_size: 1000, ...(center ? { center } : {}), ...(page_token ? { page_token } : {}) } } })),
  }
}

/** Unit types of one center, or of all ('' ). */
export function useUnitTypes(center = '') {
  return useWholeList(list(center))
}

/** Those of all centers, also while they are read. */
export function useUnitTypesInParts() {
  return useListInParts(list(''))
}
