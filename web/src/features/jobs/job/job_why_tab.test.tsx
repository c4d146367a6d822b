import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import type * as Session from '../../../app/session'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import type * as JobQueries from '../../../queries/jobs'
import type { Job } from '../../../queries/jobs'
import { JobWhyTab } from './job_why_tab'

const known = { may: true, cycle: 'cyc_1' as string | null }

vi.mock('../../../app/session', async (original) => ({
  ...await original<typeof Session>(),
  useSession: () => ({ may: () => known.may }),
}))
vi.mock('./job_gpus', () => ({ JobGpus: () => null }))
vi.mock('../../../queries/jobs', async (original) => ({
  ...await original<typeof JobQueries>(),
  usePlacement: () => ({ isPending: false, isError: false, error: null, dataUpdatedAt: 0, refetch: () => undefined, data: {
    job_id: 'job_1', cycle_id: known.cycle, decided_at: '2026-11-01T00:00:00Z', decided_by: 'rep_1', waiting: null, actual: null,
    decision: { winner: null, candidates: [], assumptions: [] } } }),
}))
afterEach(cleanup)

function cycleLink(may: boolean, cycle: string | null) {
  Object.assign(known, { may, cycle })
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><JobWhyTab job={{ id: 'job_1' } as Job} isWaiting={false} /></LanguageProvider>
    </MantineProvider>)
  return screen.queryByText('The scheduling cycle')?.getAttribute('href')
}

it('leads from a decision to its place in the scheduling cycle', () => {
  expect(cycleLink(true, 'cyc_1')).toBe('/cycles/cyc_1?job=job_1')
})

it('leads nowhere where no cycle was kept, nor who may not see the jobs of others', () => {
  expect(cycleLink(true, null)).toBeUndefined()
  cleanup()
  expect(cycleLink(false, 'cyc_1')).toBeUndefined()
})
