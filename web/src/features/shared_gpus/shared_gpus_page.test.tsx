import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { SharedGpu, SharedGpuJob } from '../../queries/shared_gpus'
import { SharedGpusPage } from './shared_gpus_page'

const answer: { gpus: readonly SharedGpu[]; asked: string | null } = { gpus: [], asked: null }
vi.mock('../../queries/shared_gpus', () => ({
  useAllSharedGpus: (center: string) => {
    answer.asked = center
    return { data: answer.gpus, isCut: false, isPending: false, isError: false, error: null, dataUpdatedAt: 0, refetch: () => undefined }
  },
}))
vi.mock('../centers/center_options', () => ({ useCenterOptions: () => [{ value: '', label: 'Any' }, 'alpha', 'beta'] }))

afterEach(() => {
  cleanup()
  window.history.replaceState(null, '', '/')
})

const gib = 2 ** 30
const program = {
  job: 'job_1', process: 7, has_turn: true, persistent: { used_bytes: 4 * gib, room_bytes: 10 * gib }, temporary: { peak_bytes: gib, room_bytes: 5 * gib },
  switches: 12, switch_s: 0.4, moved_bytes: 0, kept_bytes: 48 * gib, refusals: 0, longest_wait_s: 1.5,
} as unknown as SharedGpuJob
const gpu = (name: string, center: string, jobs: SharedGpuJob[], refused = 0): SharedGpu => ({
  gpu: name, center, center_id: `ctr_${center}`, reported_at: '2026-03-01T12:00:00Z', capacity_bytes: 40 * gib, persistent_bytes: 10 * gib, temporary_bytes: 5 * gib,
  free_bytes: 25 * gib, gap_bytes: 0, is_shared: jobs.length > 1, refused_count: refused, job_count: jobs.length, jobs })

function open(search: string, gpus: readonly SharedGpu[]) {
  answer.gpus = gpus
  window.history.replaceState(null, '', `/shared-gpus${search}`)
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><SharedGpusPage /></LanguageProvider>
    </MantineProvider>)
}

it('shows how full each GPU is, and the programs on all of them', () => {
  open('', [gpu('GPU-a', 'alpha', [program, { ...program, job: 'job_2' }]), gpu('GPU-b', 'beta', [], 3)])
  const gpus = within(screen.getByRole('group', { name: 'GPUs' }))
  expect(gpus.getAllByRole('row').length).toBe(3)
  expect(gpus.getAllByText('38 %').length).toBe(2)
  const programs = within(screen.getByRole('group', { name: 'Programs and their memory' })).getAllByRole('row')
  expect(programs.map((row) => row.textContent?.includes('GPU-a'))).toEqual([false, true, true])
})

it('keeps what is chosen in the address', () => {
  open('?center=alpha&view=refused', [gpu('GPU-a', 'alpha', [program]), gpu('GPU-b', 'alpha', [], 3)])
  expect(answer.asked).toBe('alpha')
  expect(screen.queryByText('GPU-a')).toBeNull()
  expect(screen.getByText('GPU-b')).toBeTruthy()
  expect(screen.getByText('No program that you may see has memory on these GPUs.')).toBeTruthy()
  fireEvent.change(screen.getByLabelText('Show'), { target: { value: 'shared' } })
  expect(window.location.search).toBe('?center=alpha&view=shared')
  fireEvent.click(screen.getByRole('button', { name: en['ui.none.clear'] }))
  expect(window.location.search).toBe('')
})

it('says how GPUs come to be shared where none is', () => {
  open('', [])
  expect(screen.getByText('No center has a GPU that jobs share by turns')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'To the unit types' }).getAttribute('href')).toBe('/unit-types')
})
