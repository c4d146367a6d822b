import { expect, it } from 'vitest'
import type { ProbeSchedule } from '../../queries/probe_schedules'
import { filterSchedules, noScheduleFilters, parseScheduleFilters } from './schedule_filters'

const schedules = [
  { name: 'nightly', enabled: true, last_error: null }, { name: 'Network', enabled: false, last_error: null },
  { name: 'weekly', enabled: true, last_error: 'no unit is free' }] as ProbeSchedule[]

const names = (raw: Partial<Record<'text' | 'state', string>>) =>
  filterSchedules(schedules, parseScheduleFilters({ ...noScheduleFilters, ...raw }), (s) => (s.name === 'weekly' ? 'dgemm' : 'everything')).map((s) => s.name)

it('finds schedules by name and by what they measure', () => {
  expect(names({})).toHaveLength(3)
  expect(names({ text: ' net ' })).toEqual(['Network'])
  expect(names({ text: 'DGEMM' })).toEqual(['weekly'])
})

it('finds those that are on, paused, or failed last', () => {
  expect(names({ state: 'on' })).toEqual(['nightly', 'weekly'])
  expect(names({ state: 'off' })).toEqual(['Network'])
  expect(names({ state: 'failed' })).toEqual(['weekly'])
  expect(names({ state: 'asleep' })).toHaveLength(3)
})
