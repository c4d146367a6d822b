import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { Center } from '../../queries/centers'
import { FirstRun } from './first_run'

const known = { isMeasured: true, hasEndedJob: false }

vi.mock('../../app/session', () => ({ useSession: () => ({ may: () => true }) }))
vi.mock('../../queries/first_run', () => ({
  useIsMeasured: (enabled: boolean) => ({ data: enabled ? known.isMeasured : undefined }),
  useHasEndedJob: (enabled: boolean) => ({ data: enabled ? known.hasEndedJob : undefined }),
}))

beforeEach(() => {
  Object.assign(known, { isMeasured: true, hasEndedJob: false })
})
afterEach(() => {
  cleanup()
  localStorage.clear()
})

const center = (name: string, change: Partial<Center> = {}) => ({ name, state: 'online', revoked_at: null, ...change }) as Center

function show(...centers: Center[]) {
  cleanup()
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><FirstRun centers={centers} /></LanguageProvider>
    </MantineProvider>)
  return screen.queryAllByRole('listitem').map((item) => item.textContent?.includes(': done') ?? false)
}

it('stays after the first center, with a mark at what is done', () => {
  expect(show(center('alpha'))).toEqual([false, true, false])
  expect(show(center('alpha'), center('beta', { state: 'lost' }))).toEqual([false, true, false])
  expect(show(center('alpha'), center('beta'))).toEqual([true, true, false])
})

it('goes once all is done, and does not come back when a center is away', () => {
  known.hasEndedJob = true
  expect(show(center('alpha'), center('beta'))).toEqual([])
  expect(show(center('alpha'), center('beta', { state: 'suspect' }))).toEqual([])
})

it('goes when it is dismissed, for this browser', () => {
  show(center('alpha'))
  fireEvent.click(screen.getByRole('button', { name: 'Do not show this again' }))
  expect(screen.queryByRole('list')).toBeNull()
  expect(show(center('alpha'))).toEqual([])
})

it('is there whatever was dismissed while there is no center at all', () => {
  localStorage.setItem('fathom.first_run', 'dismissed')
  expect(show()).toEqual([false, true, false])
  expect(screen.queryByRole('button', { name: 'Do not show this again' })).toBeNull()
  screen.getByRole('button', { name: 'Enrol a center' })
})
