import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'

export type Reservation = components['schemas']['Reservation']
export type ReservationOrder = components['schemas']['ReservationOrder']
export type Maintenance = components['schemas']['Maintenance']
export type MaintenanceOrder = components['schemas']['MaintenanceOrder']

export interface CalendarFilters {
  center: string
  project: string
  /** Only what has neither ended nor been cancelled. */
  open: boolean
}

export const calendarKeys = {
  all: ['calendar'] as const,
  reservations: (filters: CalendarFilters) => ['calendar', 'reservations', filters] as const,
  maintenance: (center: string, open: boolean) => ['calendar', 'maintenance', center, open] as const,
}

const refetchInterval = 30_000

export function useReservations(filters: CalendarFilters) {
  return useWholeList({
    key: calendarKeys.reservations(filters),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/reservations', { signal, params: { query: {
      page_size: 1000, page_token, open: filters.open, center: filters.center || undefined, project: filters.project || undefined } } })),
    refetchInterval,
    keepsPrevious: true,
  })
}

export function useMaintenance({ center, open }: { center: string; open: boolean }) {
  return useWholeList({
    key: calendarKeys.maintenance(center, open),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/maintenance-windows', { signal, params: { query: {
      page_size: 1000, page_token, open, center: center || undefined } } })),
    refetchInterval,
    keepsPrevious: true,
  })
}

function useCalendarMutation<Values, Answer>(mutationFn: (values: Values) => Promise<Answer>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: calendarKeys.all }) })
}

export function useReserve() {
  return useCalendarMutation(({ order, key }: { order: ReservationOrder; key: string }) => unwrap(api.POST('/api/v1/reservations', {
    params: { header: { 'Idempotency-Key': key } }, body: order })))
}

export function usePlanMaintenance() {
  return useCalendarMutation(({ order, key }: { order: MaintenanceOrder; key: string }) => unwrap(api.POST('/api/v1/maintenance-windows', {
    params: { header: { 'Idempotency-Key': key } }, body: order })))
}

export function useCancelReservation() {
  return useCalendarMutation((id: string) => unwrap(api.DELETE('/api/v1/reservations/{id}', { params: { path: { id } } })))
}

export function useCancelMaintenance() {
  return useCalendarMutation((id: string) => unwrap(api.DELETE('/api/v1/maintenance-windows/{id}', { params: { path: { id } } })))
}
