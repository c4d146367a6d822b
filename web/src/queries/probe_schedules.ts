import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'
import { probeKeys } from './probe_keys'

export type ProbeSchedule = components['schemas']['ProbeSchedule']
export type ProbeScheduleOrder = components['schemas']['ProbeScheduleOrder']
export type ProbeScheduleChange = components['schemas']['ProbeScheduleChange']

export function useProbeSchedules() {
  return useWholeList({
    key: probeKeys.schedules,
    refetchInterval: 30_000,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/probe-schedules', {
      signal, params: { query: { page_size: 200, ...(page_token ? { page_token } : {}) } } })),
  })
}

function useScheduleWrite<Values>(mutationFn: (values: Values) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: probeKeys.schedules }) })
}

export function useCreateSchedule() {
  return useScheduleWrite(({ order, key }: { order: ProbeScheduleOrder; key: string }) => unwrap(api.POST('/api/v1/probe-schedules', {
    params: { header: { 'Idempotency-Key': key } }, body: order })))
}

export function useChangeSchedule() {
  return useScheduleWrite(({ schedule, change }: { schedule: ProbeSchedule; change: ProbeScheduleChange }) =>
    unwrap(api.PATCH('/api/v1/probe-schedules/{id}', {
      params: { path: { id: schedule.id }, header: { 'If-Match': `"${schedule.version}"` } }, body: change })))
}

export function useRemoveSchedule() {
  return useScheduleWrite((schedule: ProbeSchedule) => unwrap(api.DELETE('/api/v1/probe-schedules/{id}', {
    params: { path: { id: schedule.id }, header: { 'If-Match': `"${schedule.version}"` } } })))
}
