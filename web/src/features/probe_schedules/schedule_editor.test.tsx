import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import { ScheduleEditor } from './schedule_editor'

const { create } = vi.hoisted(() => ({ create: vi.fn() }))
vi.mock('../../queries/probe_schedules', () => ({
  useCreateSchedule: () => ({ mutate: create, error: null, isPending: false }), useChangeSchedule: () => ({ mutate: vi.fn(), error: null, isPending: false }),
}))
vi.mock('../probe_runs/order/order_form', () => ({ OrderForm: () => null }))
vi.mock('../probe_runs/order/order_draft', () => ({ emptyDraft: {}, toDraft: () => ({}), toOrder: () => ({ order: { survey: true }, wrong: {} }) }))

afterEach(cleanup)

it('a schedule that is sent again has the same key, and one that was changed after a refusal another', () => {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><ScheduleEditor schedule={null} onClose={() => undefined} /></LanguageProvider>
    </MantineProvider>)
  const name = screen.getByLabelText('Name')
  fireEvent.change(name, { target: { value: 'weekly' } })
  fireEvent.change(screen.getByLabelText('When (UTC)'), { target: { value: '@weekly' } })
  fireEvent.submit(name)
  fireEvent.submit(name)
  fireEvent.change(name, { target: { value: 'weekly dgemm' } })
  fireEvent.submit(name)
  const keys = create.mock.calls.map(([values]) => (values as { key: string }).key)
  expect(keys).toHaveLength(3)
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).not.toBe(keys[0])
})
