import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type Prediction = components['schemas']['Prediction']

export const predictionKeys = {
  all: ['predictions'] as const,
  newest: (count: number, center: string) => ['predictions', 'newest', count, center] as const,
}

/** What was decided last: every placement of a user's job leaves a prediction. */
export function useNewestPredictions(count: number, center = '') {
  return useQuery({
    queryKey: predictionKeys.newest(count, center),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/predictions', {
      params: { query: { page_size: count, ...(center ? { center } : {}) } }, signal })),
  })
}
