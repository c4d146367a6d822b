import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type JobType = components['schemas']['JobType']

/** What was learned of types of jobs, by name. A while after a job's end it changes without an event of its own. */
export function useJobTypes() {
  return usePages({
    key: ['job-types'],
    refetchInterval: 30_000,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/job-types', { signal, params: { query: { page_size: 100, page_token } } })),
  })
}
