import { useMutation } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type AuditEntry = components['schemas']['AuditEntry']

export type AuditCheck = components['schemas']['AuditCheck']

export interface AuditFilters {
  actor: string
  action: string
  subject: string
  /** RFC 3339; '': any time. */
  since: string
  until: string
}

/** What REST is asked with: only what is filtered by. */
export function auditQuery(filters: AuditFilters): Partial<AuditFilters> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''))
}

export const auditKeys = { list: (filters: AuditFilters) => ['audit-log', filters] as const }

export function useAuditLog(filters: AuditFilters) {
  return usePages({
    key: auditKeys.list(filters),
    keepsPrevious: true,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/audit-log', { signal, params: { query: {
      page_size: 100, page_token, ...auditQuery(filters) } } })),
  })
}

/** Has the server follow the chain of hashes; `known`: the end of it that an earlier check said, or ''. It takes a while, so it is asked for. */
export function useVerifyAuditLog() {
  return useMutation({
    mutationFn: (known: string) => unwrap(api.GET('/api/v1/audit-log:verify', { params: { query: known ? { known } : {} } })),
  })
}
