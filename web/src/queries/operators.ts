import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Operator = components['schemas']['Operator']

export const operatorKeys = { all: ['operators'] as const, list: ['operators', 'list'] as const }

export function useOperators() {
  return useWholeList({
    key: operatorKeys.list,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/operators', {
      signal, params: { query: { page_size: 500, ...(page_token ? { page_token } : {}) } } })),
    staleTime: 60_000,
  })
}
