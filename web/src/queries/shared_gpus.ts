import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type SharedGpu = components['schemas']['SharedGpu']
export type SharedGpuJob = components['schemas']['SharedGpuJob']

/** GPUs of a center whose memory jobs share, as its memory manager last told. */
export function useSharedGpus(center: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['shared-gpus', center],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/shared-gpus', { signal, params: { query: { center, page_size: 200 } } })),
    refetchInterval: 5_000,
    enabled: isWanted,
  })
}
