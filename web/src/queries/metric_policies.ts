import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, idempotencyKey, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type MetricPolicy = components['schemas']['MetricPolicy']
export type MetricPolicyDocument = components['schemas']['MetricPolicyDocument']
export type PolicyTrial = components['schemas']['PolicyTrial']
export type ComparedUnitType = components['schemas']['ComparedUnitType']
export type ComparedOperator = components['schemas']['ComparedOperator']

const keys = { all: ['metric-policies'] as const }

export function nameOf(policy: { id: string; version: number }): string {
  return `${policy.id}@${policy.version}`
}

/** All versions of all policies. They are few: each is a document that a person wrote. */
export function useMetricPolicies() {
  return useWholeList({
    key: keys.all,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/metric-policies', {
      signal, params: { query: { page_size: 1000, ...(page_token ? { page_token } : {}) } } })),
  })
}

export function useAddPolicy() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (document: MetricPolicyDocument) => unwrap(api.POST('/api/v1/metric-policies', {
      params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: { document } })),
    onSettled: () => client.invalidateQueries({ queryKey: keys.all }),
  })
}

/** What a policy would change, stored nowhere: of a document, or of a stored version by its name. */
export function useTryPolicy() {
  return useMutation({
    mutationFn: (subject: { document: MetricPolicyDocument } | { policy: string }) =>
      unwrap(api.POST('/api/v1/metric-policies:try', { body: subject })),
  })
}

export function useActivatePolicy() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, version }: { id: string; version: number }) => unwrap(api.POST('/api/v1/metric-policies/{id}:activate', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey() } }, body: { version } })),
    onSettled: () => Promise.all([
      client.invalidateQueries({ queryKey: keys.all }), client.invalidateQueries({ queryKey: ['metering'] })]),
  })
}
