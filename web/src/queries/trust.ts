import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type TrustList = components['schemas']['TrustList']
export type Trust = TrustList['items'][number]

export const trustKeys = { all: ['trust'] as const }

/** How far the probes of each unit type can be believed. */
export function useTrust() {
  return useQuery({ queryKey: trustKeys.all, queryFn: ({ signal }) => unwrap(api.GET('/api/v1/trust', { signal })) })
}
