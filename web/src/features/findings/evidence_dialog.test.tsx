import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { ProbeFinding } from '../../queries/findings'
import { EvidenceDialog } from './evidence_dialog'

vi.mock('../../queries/trust', () => ({
  useTrust: () => ({ data: { items: [{ unit_type_id: 'unt_1', factor: 0.5, finding_factor: 0.8, finding_count: 1 }] } }),
}))

afterEach(cleanup)

const finding = {
  id: 'fnd_1', center_id: 'ctr_1', center: 'alpha', unit_type_id: 'unt_1', unit_type: 'core', probe_run_id: 'prn_9', kind: 'clock',
  detail: 'took longer than it says', evidence: { claimed_s: 1, seen_s: 90, runs_before: ['prn_7'] }, found_at: '2026-03-01T12:00:00Z', dismissed_at: null, dismissed_by: null,
} as unknown as ProbeFinding

function show(change: Partial<ProbeFinding> = {}) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><EvidenceDialog finding={{ ...finding, ...change }} onClose={() => undefined} /></LanguageProvider>
    </MantineProvider>)
}

it('names what a finding rests on, the runs before it, and what it costs', () => {
  show()
  expect(screen.getByText('Time that our clock saw').nextSibling?.textContent).toBe('1 min 30 s')
  expect(screen.getByText('prn_7').closest('a')?.getAttribute('href')).toBe('/probe-runs/prn_7')
  expect(screen.getByText('prn_9').closest('a')?.getAttribute('href')).toBe('/probe-runs/prn_9')
  expect(screen.getByText('yes, until it is dismissed')).toBeTruthy()
  expect(screen.getByText('50 %; open findings (1) leave 80 % of it')).toBeTruthy()
})

it('costs nothing any more once it is dismissed', () => {
  show({ dismissed_at: '2026-03-02T12:00:00Z', dismissed_by: 'tok_1' })
  expect(screen.getByText('Costs trust').nextSibling?.textContent).toBe('no')
})
