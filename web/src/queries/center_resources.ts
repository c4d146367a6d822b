import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'
import { centerKeys } from './centers'

export type CenterResources = components['schemas']['CenterResources']
export type CenterResourcesOrder = components['schemas']['CenterResourcesOrder']
export type ResourceDifference = components['schemas']['ResourceDifference']

// Below the centers' own key: what changes a center has these read again, too.
const keyOf = (center: string) => [...centerKeys.all, 'resources', center] as const

/** What a center is to offer and how far it does; its agent answers without an event. */
export function useCenterResources(center: string) {
  return useQuery({
    queryKey: keyOf(center),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/centers/{id}/resources', { params: { path: { id: center } }, signal })),
    refetchInterval: 5_000,
  })
}

/** Refused when somebody else has changed it since `version` was read. */
export function usePutCenterResources() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ center, version, order }: { center: string; version: number; order: CenterResourcesOrder }) =>
      unwrap(api.PUT('/api/v1/centers/{id}/resources', {
        params: { path: { id: center }, header: { 'If-Match': `"${version}"` } }, body: order })),
    onSettled: () => client.invalidateQueries({ queryKey: centerKeys.all }),
  })
}
