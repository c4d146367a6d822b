import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type ExportSchedule = components['schemas']['ExportSchedule']
export type ExportScheduleOrder = components['schemas']['ExportScheduleOrder']
export type ExportFormat = components['schemas']['ExportFormat']

export const exportFormats: readonly ExportFormat[] = ['focus', 'jsonl', 'ledger', 'apel', 'apel-summary', 'sacct']

export const exportScheduleKeys = { all: ['export-schedules'] as const }

export function useExportSchedules() {
  return useWholeList({
    key: exportScheduleKeys.all,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/export-schedules', { signal, params: { query: { page_size: 1000, page_token } } })),
    refetchInterval: 10_000, // how a run went comes without an event
  })
}

function useScheduleMutation<Values>(mutationFn: (values: Values) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: exportScheduleKeys.all }) })
}

const ifMatch = (schedule: ExportSchedule) => ({ path: { id: schedule.id }, header: { 'If-Match': `"${schedule.version}"` } })

/** Adds a schedule, or changes one that nobody else has changed since it was read. */
export function useSaveExportSchedule() {
  return useScheduleMutation(({ schedule, order, key }: { schedule: ExportSchedule | null; order: ExportScheduleOrder; key: string }): Promise<unknown> => (
    schedule === null
      ? unwrap(api.POST('/api/v1/export-schedules', { params: { header: { 'Idempotency-Key': key } }, body: order }))
      : unwrap(api.PATCH('/api/v1/export-schedules/{id}', { params: ifMatch(schedule), body: order }))))
}

export function useEnableExportSchedule() {
  return useScheduleMutation(({ schedule, enabled }: { schedule: ExportSchedule; enabled: boolean }) =>
    unwrap(api.PATCH('/api/v1/export-schedules/{id}', { params: ifMatch(schedule), body: { enabled } })))
}

export function useRunExportSchedule() {
  return useScheduleMutation((id: string) => unwrap(api.POST('/api/v1/export-schedules/{id}/run', { params: { path: { id } } })))
}

export function useRemoveExportSchedule() {
  return useScheduleMutation((schedule: ExportSchedule) => unwrap(api.DELETE('/api/v1/export-schedules/{id}', { params: ifMatch(schedule) })))
}
