import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { predictionKeys } from './predictions'
import { probeKeys } from './probe_keys'

/** Whether any probe has succeeded. */
export function useIsMeasured(enabled: boolean) {
  return useQuery({
    queryKey: [...probeKeys.all, 'any succeeded'],
    queryFn: async ({ signal }) => (await unwrap(api.GET('/api/v1/probe-runs', {
      params: { query: { state: 'succeeded', page_size: 1 } }, signal }))).items.length > 0,
    enabled,
  })
}

/** Whether a job that was placed has ended, among those that may be seen: each leaves a prediction. */
export function useHasEndedJob(enabled: boolean) {
  return useQuery({
    queryKey: [...predictionKeys.all, 'any ended'],
    queryFn: async ({ signal }) => (await unwrap(api.GET('/api/v1/predictions', {
      params: { query: { ended: 'true', page_size: 1 } }, signal }))).items.length > 0,
    enabled,
  })
}
