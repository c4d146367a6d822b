import type { ProbeSchedule } from '../../queries/probe_schedules'

export const scheduleFilterNames = ['text', 'state'] as const

export interface ScheduleFilters {
  /** A part of the name, or of what or where is measured, in any case. */
  text: string
  /** '': any; failed: the last run could not be ordered. */
  state: 'on' | 'off' | 'failed' | ''
}

export const noScheduleFilters = { text: '', state: '' } as const

export function parseScheduleFilters(raw: Record<(typeof scheduleFilterNames)[number], string>): ScheduleFilters {
  return { text: raw.text, state: raw.state === 'on' || raw.state === 'off' || raw.state === 'failed' ? raw.state : '' }
}

/** The schedules that fit; all of them were read at once. `words`: what a row shows of what and where is measured. */
export function filterSchedules(schedules: readonly ProbeSchedule[], filters: ScheduleFilters, words: (schedule: ProbeSchedule) => string): readonly ProbeSchedule[] {
  const text = filters.text.trim().toLowerCase()
  return schedules.filter((schedule) => (!text || `${schedule.name} ${words(schedule)}`.toLowerCase().includes(text)) &&
    (!filters.state || (filters.state === 'failed' ? !!schedule.last_error : schedule.enabled === (filters.state === 'on'))))
}
