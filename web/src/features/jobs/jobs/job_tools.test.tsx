import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import type * as CenterQueries from '../../../queries/centers'
import { noFilters, parseJobFilters } from './filters'
import { JobTools } from './job_tools'

vi.mock('../../../queries/centers', async (original) => ({
  ...await original<typeof CenterQueries>(),
  useCenters: () => ({ data: [{ name: 'alpha' }], isCut: false }),
}))
afterEach(cleanup)

function show(given: Partial<typeof noFilters> = {}) {
  const change = vi.fn()
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <JobTools filters={parseJobFilters({ ...noFilters, sort: '', ...given })} grouping="" change={change} />
      </LanguageProvider>
    </MantineProvider>)
  return change
}

it('has its rarer filters where one asks for them', () => {
  const change = show()
  expect(screen.queryByLabelText('Center')).toBeNull()
  const more = screen.getByText('More filters', { selector: 'button *' }).closest('button')
  expect(more?.getAttribute('aria-expanded')).toBe('false')
  fireEvent.click(more as HTMLElement)
  fireEvent.change(screen.getByLabelText('Center'), { target: { value: 'alpha' } })
  fireEvent.change(screen.getByLabelText(/^Submitted from/), { target: { value: '2026-11-01T08:00' } })
  fireEvent.blur(screen.getByLabelText(/^Submitted from/))
  expect(change.mock.calls).toEqual([[{ center: 'alpha' }], [{ submitted_after: '2026-11-01T08:00:00Z' }]])
})

it('shows what an address is filtered by, without being asked', () => {
  show({ unit_type: 'alpha/core', submitted_before: '2026-11-02T00:00:00Z' })
  expect(screen.queryByText('More filters', { selector: 'button *' })).toBeNull()
  expect((screen.getByLabelText('Unit type') as HTMLInputElement).value).toBe('alpha/core')
  expect((screen.getByLabelText(/^Submitted before/) as HTMLInputElement).value).toBe('2026-11-02T00:00')
})
