import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import { zh } from '../../../i18n/zh'
import type { JobGpu, SharedGpu, SharedGpuJob } from '../../../queries/shared_gpus'
import { keptNeighboursOf, neighboursOf } from './gpu_neighbours'
import { KeptGpusOfJob, SharedGpusOfJob } from './job_gpus'

afterEach(cleanup)

const mebibyte = 2 ** 20

function programOf(job: string, process = 1): SharedGpuJob {
  return {
    job, process, has_turn: true, share: 1, priority: 0, iterations: 20, refusals: 0, switches: 12, switches_after_iteration: 12,
    moved_bytes: 2 * mebibyte, kept_bytes: 48 * mebibyte, switch_s: 3, turn_s: 40, longest_wait_s: 7, kept_pace: 0.64, wrong_messages: 0,
    persistent: { start: 0, room_bytes: 6 * mebibyte, used_bytes: 4 * mebibyte, peak_bytes: 4 * mebibyte }, gap_bytes: 0,
    temporary: { start: 0, room_bytes: 16 * mebibyte, used_bytes: 0, peak_bytes: 8 * mebibyte },
  } as SharedGpuJob
}

/** As the server answers; there may be more programs than it tells of. */
function gpuWith(jobs: readonly SharedGpuJob[], job_count: number): SharedGpu {
  return {
    center: 'alpha', center_id: 'ctr_1', gpu: 'GPU-1', reported_at: '2026-03-01T12:00:00Z', capacity_bytes: 80 * mebibyte, persistent_bytes: 0,
    temporary_bytes: 0, free_bytes: 30 * mebibyte, gap_bytes: 0, is_shared: job_count > 1, refused_count: 0, job_count, jobs: [...jobs],
  }
}

function show(gpus: readonly SharedGpu[], language: 'en' | 'zh' = 'en') {
  return render(
    <MantineProvider env="test">
      <LanguageProvider language={language} dictionary={language === 'en' ? en : zh}><SharedGpusOfJob job="job_a" gpus={gpus} /></LanguageProvider>
    </MantineProvider>)
}

it('names the jobs that share the GPU, each once, and counts the programs that the reader may not know', () => {
  const own = programOf('job_a')
  const neighbours = (jobs: readonly SharedGpuJob[], count: number) => neighboursOf(gpuWith(jobs, count), 'job_a')
  expect(neighbours([own], 1)).toEqual({ jobs: [], otherCount: 0 })
  expect(neighbours([own], 3)).toEqual({ jobs: [], otherCount: 2 })
  expect(neighbours([programOf('job_b'), own, programOf('job_c'), programOf('job_b')], 4)).toEqual({ jobs: ['job_b', 'job_c'], otherCount: 0 })
  expect(neighbours([own, programOf('job_b'), programOf('')], 4)).toEqual({ jobs: ['job_b'], otherCount: 2 })
})

it('names many in part', () => {
  const others = Array.from({ length: 10 }, (_, i) => programOf(`n${i}`))
  expect(neighboursOf(gpuWith([programOf('job_a'), ...others], 11), 'job_a')).toEqual(
    { jobs: others.slice(0, 8).map((one) => one.job), otherCount: 2 })
})

it('shows who shares the GPU, and of the job itself what stayed there and what turns cost', () => {
  show([gpuWith([programOf('job_a'), programOf('job_b')], 3)])
  expect(screen.getByText('Shared with').nextSibling?.textContent).toBe('job_b, other programs: 1')
  expect(screen.getByRole('link', { name: 'job_b' }).getAttribute('href')).toBe('/jobs/job_b')
  expect(screen.getAllByRole('row').map((row) => row.textContent)).toEqual([
    'Has the turnPersistentTemporary, at mostTurns given backTime of switchingMovedStayedAllocations refusedLongest waitOf its pace alone',
    'yes4.00 MiB / 6.00 MiB8.00 MiB / 16.0 MiB123.00 s2.00 MiB48.0 MiB07.00 s64 %'])
})

it('says so in Chinese, and that nobody shares it', () => {
  show([gpuWith([programOf('job_a')], 1)], 'zh')
  expect(screen.getByText('共享者').nextSibling?.textContent).toBe('没有其他程序')
})

it('shows nothing of a job on no such GPU', () => {
  expect(show([]).container.querySelector('section')).toBeNull()
  expect(showKept([]).container.querySelector('section')).toBeNull()
})

/** As the server keeps it of a job that has ended. */
function keptGpu(neighbours: readonly string[], other_count: number): JobGpu {
  return {
    attempt_id: 'att_1', center: 'alpha', center_id: 'ctr_1', gpu: 'GPU-1', capacity_bytes: 80 * mebibyte, first_told_at: '2026-03-01T12:00:00Z',
    last_told_at: '2026-03-01T12:30:00Z', programs: [programOf('job_a')], neighbours: [...neighbours], other_count,
    pairs: neighbours.slice(0, 1).map((neighbour) => ({ neighbour, kept_pace: 0.8, neighbour_kept_pace: 0.66, count: 12 })),
  }
}

function showKept(gpus: readonly JobGpu[]) {
  return render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><KeptGpusOfJob gpus={gpus} /></LanguageProvider>
    </MantineProvider>)
}

it('shows of an ended job who shared the GPU, and what that had cost', () => {
  showKept([keptGpu(['job_b'], 2)])
  expect(screen.getByText('Pace at once').nextSibling?.textContent).toBe('beside job_b: 80 % of its pace alone, the other 66 %')
  expect(screen.getByText('Shared with').nextSibling?.textContent).toBe('job_b, others: 2')
  expect(screen.getByRole('link', { name: 'job_b' }).getAttribute('href')).toBe('/jobs/job_b')
  expect(screen.getAllByRole('row').map((row) => row.textContent)).toEqual([
    'Persistent, at mostTemporary, at mostTurns given backTime of switchingMovedStayedAllocations refusedLongest waitOf its pace alone',
    '4.00 MiB / 6.00 MiB8.00 MiB / 16.0 MiB123.00 s2.00 MiB48.0 MiB07.00 s64 %'])
})

it('names many of them in part, too', () => {
  const names = Array.from({ length: 10 }, (_, i) => `n${i}`)
  expect(keptNeighboursOf(keptGpu(names, 1))).toEqual({ jobs: names.slice(0, 8), otherCount: 3 })
})
