import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'
import type { JobSpec } from './jobs'

export type Decision = components['schemas']['Decision']
export type Candidate = components['schemas']['Candidate']
export type PlacementPreview = components['schemas']['PlacementPreview']

/** Where a job would go now. What was answered before stays while the next answer comes. */
export function usePlacementPreview(spec: JobSpec | null) {
  return useQuery({
    queryKey: ['placement-preview', spec],
    queryFn: ({ signal }) => unwrap(api.POST('/api/v1/placements:preview', { body: spec ?? {}, signal })),
    enabled: spec !== null,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 30_000,
  })
}
