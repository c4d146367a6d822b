import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type Authority = components['schemas']['Authority']
export type AuthorityCertificate = components['schemas']['AuthorityCertificate']
export type Replica = components['schemas']['Replica']
export type WaitingCenter = components['schemas']['WaitingCenter']

const authorityKeys = { all: ['authority'] as const }

/** What certificates the network trusts, and where a replacement stands; agents follow without an event. */
export function useAuthority() {
  return useQuery({
    queryKey: authorityKeys.all,
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/authority', { signal })),
    refetchInterval: 5_000,
  })
}
