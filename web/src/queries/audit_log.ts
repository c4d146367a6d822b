import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type AuditEntry = components['schemas']['AuditEntry']

export interface AuditFilters {
  actor: string
  action: string
  subject: string
}

export const auditKeys = { list: (filters: AuditFilters) => ['audit-log', filters] as const }

export function useAuditLog(filters: AuditFilters) {
  return usePages({
    key: auditKeys.list(filters),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/audit-log', { signal, params: { query: {
      page_size: 100, page_token, actor: filters.actor || undefined, action: filters.action || undefined, subject: filters.subject || undefined } } })),
  })
}
