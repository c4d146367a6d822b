import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { readAll } from '../api/pages'
import type { components } from '../api/schema'

export type Operator = components['schemas']['Operator']

export const operatorKeys = { all: ['operators'] as const, list: ['operators', 'list'] as const }

export function useOperators() {
  return useQuery({
    queryKey: operatorKeys.list,
    queryFn: () => readAll((page_token) => unwrap(api.GET('/api/v1/operators', {
      params: { query: { page_size: 500, ...(page_token ? { page_token } : {}) } } }))),
    staleTime: 60_000,
  })
}
