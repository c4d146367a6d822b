import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { usePages, useWholeList } from '../api/pages'
import type { components } from '../api/schema'
import { operatorKeys } from './operators'

export type OperatorManifest = components['schemas']['OperatorManifest']
export type OperatorPackage = components['schemas']['OperatorPackage']
export type OperatorOrder = components['schemas']['OperatorOrder']
export type OperatorUse = components['schemas']['OperatorUse']
export type Diversity = components['schemas']['Diversity']

/** How many kinds of unit serve each operator (M18); which these are is left out. */
export function useDiversity() {
  return useWholeList({
    key: [...operatorKeys.all, 'diversity'],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/diversity', {
      signal, params: { query: { page_size: 1000, unit_types: false, ...(page_token ? { page_token } : {}) } } })),
  })
}

/** The kinds of unit that serve one operator; null: it is none of the library. */
export function useDiversityOf(operator: string) {
  return useQuery({
    queryKey: [...operatorKeys.all, 'diversity', operator],
    queryFn: async ({ signal }): Promise<Diversity | null> => {
      const page = await unwrap(api.GET('/api/v1/diversity', { signal, params: { query: { page_size: 1, operator } } }))
      return page.items[0] ?? null
    },
  })
}

/** One version; null: the one in use. */
export function useOperator(id: string, version: number | null) {
  return useQuery({
    queryKey: [...operatorKeys.all, 'version', id, version],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/operators/{id}', {
      params: { path: { id }, query: version === null ? {} : { version } }, signal })),
  })
}

export function useOperatorVersions(id: string) {
  return usePages({
    key: [...operatorKeys.all, 'versions', id],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/operators/{id}/versions', {
      signal, params: { path: { id }, query: { page_size: 50, ...(page_token ? { page_token } : {}) } } })),
  })
}

/** The signed package of an uploaded version, to be saved. */
export function useReadPackage() {
  return useMutation({
    mutationFn: ({ id, version }: { id: string; version: number }): Promise<OperatorPackage> =>
      unwrap(api.GET('/api/v1/operators/{id}/versions/{version}/package', { params: { path: { id, version } } })),
  })
}

function useOperatorWrite<Values, Result>(mutationFn: (values: Values) => Promise<Result>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: operatorKeys.all }) })
}

export function useUploadOperator() {
  return useOperatorWrite((body: OperatorOrder) => unwrap(api.POST('/api/v1/operators', {
    params: { header: { 'Idempotency-Key': idempotencyKey() } }, body })))
}

/** Makes the next version, on the condition that `base` is still the newest. */
export function useChangeOperator() {
  return useOperatorWrite(({ id, base, order }: { id: string; base: number; order: OperatorOrder }) => unwrap(api.PUT('/api/v1/operators/{id}', {
    params: { path: { id }, header: { 'If-Match': `"${base}"` } }, body: order })))
}

export function useWithdrawVersion() {
  return useOperatorWrite(({ id, version }: { id: string; version: number }) => unwrap(api.DELETE('/api/v1/operators/{id}/versions/{version}', {
    params: { path: { id, version } } })))
}
