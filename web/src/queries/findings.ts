import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { components } from '../api/schema'

export type ProbeFinding = components['schemas']['ProbeFinding']

export const findingKeys = {
  all: ['probe-findings'] as const,
  open: (center: string) => ['probe-findings', 'open', center] as const,
}

export function useOpenFindings(center = '') {
  return useQuery({
    queryKey: findingKeys.open(center),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/probe-findings', {
      params: { query: { open: true, page_size: 20, ...(center ? { center } : {}) } }, signal })),
    refetchInterval: 30_000,
  })
}
