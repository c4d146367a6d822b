import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import { AttemptPhases } from './attempt_phases'

afterEach(cleanup)

function show(phases: Parameters<typeof AttemptPhases>[0]['phases']) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><AttemptPhases phases={phases} /></LanguageProvider>
    </MantineProvider>)
}

it('shows the command apart from staging, each with its time, share and amount', () => {
  show([{ id: 'in', seconds: 12, share: 0.2, moved: '3.00 GiB' }, { id: 'command', seconds: 48, share: 0.8, moved: null }])
  expect(screen.getAllByRole('row').map((row) => row.textContent)).toEqual([
    'PhaseTimeShare of the timeMoved', 'Inputs are fetched12.0 s20 %3.00 GiB', 'The command runs48.0 s80 %–'])
})

it('shows nothing of an attempt that staged nothing', () => {
  show([])
  expect(screen.queryByRole('table')).toBeNull()
})
