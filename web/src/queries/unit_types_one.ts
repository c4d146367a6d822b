import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { type UnitType, unitTypeKeys } from './unit_types'

export type { UnitType }

export function useUnitType(id: string) {
  return useQuery({
    queryKey: [...unitTypeKeys.all, 'one', id],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/unit-types/{id}', { signal, params: { path: { id } } })),
    refetchInterval: 15_000,
  })
}
