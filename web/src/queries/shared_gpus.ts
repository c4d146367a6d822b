import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type SharedGpu = components['schemas']['SharedGpu']
export type JobGpu = components['schemas']['JobGpu']
export type SharedGpuJob = components['schemas']['SharedGpuJob']

/** GPUs of a center whose memory jobs share, as its memory manager last told. */
export function useSharedGpus(center: string, isWanted: boolean) {
  return useWholeList({
    key: ['shared-gpus', 'center', center],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/shared-gpus', {
      signal, params: { query: { center, page_size: 200, ...(page_token ? { page_token } : {}) } } })),
    refetchInterval: 5_000,
    enabled: isWanted,
  })
}

/** The GPUs whose memory jobs share, of one center or, with '', of all. */
export function useAllSharedGpus(center: string) {
  return useWholeList({
    key: ['shared-gpus', 'all', center],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/shared-gpus', {
      signal, params: { query: { page_size: 200, ...(center ? { center } : {}), ...(page_token ? { page_token } : {}) } } })),
    refetchInterval: 10_000,
    keepsPrevious: true,
  })
}

/** The GPUs that programs of a job are on now, with the programs that share them, as far as the reader may know them. */
export function useGpusOfJob(job: string, isWanted: boolean) {
  return useWholeList({
    key: ['shared-gpus', 'job', job],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/shared-gpus', {
      signal, params: { query: { job, page_size: 200, ...(page_token ? { page_token } : {}) } } })),
    refetchInterval: 5_000,
    enabled: isWanted,
  })
}

/** The GPUs that an ended job has shared: with whom, and what that cost it. */
export function useKeptGpusOfJob(job: string, isWanted: boolean) {
  return useWholeList({
    key: ['shared-gpus', 'kept', job],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/jobs/{id}/gpus', {
      signal, params: { path: { id: job }, query: { page_size: 200, ...(page_token ? { page_token } : {}) } } })),
    enabled: isWanted,
  })
}
