import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen, within } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import { translateZh } from '../../../i18n/sentences/zh'
import { zh } from '../../../i18n/zh'
import type { Job } from '../../../queries/jobs'
import { partsOf } from './job_parts'
import { JobPartsTab } from './job_parts_tab'

afterEach(cleanup)

type JobSteps = NonNullable<Job['steps']>

const step = (name: string, more: Partial<JobSteps['items'][number]> = {}) => (
  { name, command: ['run'], operators: [{ id: 'dgemm' }], ...more }) as JobSteps['items'][number]

/** Two steps on a CPU, then one on a GPU, which runs. */
function divided(more: Partial<Job> = {}, steps: Partial<JobSteps> = {}): Job {
  return {
    id: 'job_1', state: 'running',
    attempt: { id: 'att_2', center: 'beta', unit_type: 'gpu', started_at: '2026-03-01T12:01:00Z', ended_at: null, run_s: null },
    steps: {
      split: 'allowed', part: 1,
      items: [step('sort'), step('pack', { hands_on: [{ path: 'b.bin', url: 'https://h/b.bin?signature=s' }], out_bytes: 2 ** 30 }), step('solve')],
      division: {
        center: 'alpha', cpu_unit_type: 'core', gpu_unit_type: 'gpu', run: 'steps', whole_on: 'GPU', cpu_s: 42, gpu_s: 11, total_s: 5, passing_s: 2, reason: '',
        steps: [{ name: 'sort', cpu_s: 1, gpu_s: 5, run_on: 'CPU', passing_s: 0 }, { name: 'pack', cpu_s: 1, gpu_s: 5, run_on: 'CPU', passing_s: 2 },
          { name: 'solve', cpu_s: 40, gpu_s: 1, run_on: 'GPU', passing_s: 0 }],
      },
      parts: [
        { first_step: 0, step_count: 2, device: 'cpu', predicted_s: 4, passing_s: 2, placed: { run_s: 2, low_s: 1.5, high_s: 2.5 }, attempt_id: 'att_1',
          place: 'alpha/core', started_at: '2026-03-01T12:00:00Z', ended_at: '2026-03-01T12:00:03Z', run_s: 2.1, cost: null },
        { first_step: 2, step_count: 1, device: 'gpu', predicted_s: 1, passing_s: 0, placed: null, attempt_id: null, place: null, started_at: null,
          ended_at: null, run_s: null, cost: null },
      ],
      ...steps,
    },
    ...more,
  } as Job
}

function show(job: Job, language: 'en' | 'zh' = 'en') {
  return render(
    <MantineProvider env="test">
      <LanguageProvider language={language} dictionary={language === 'en' ? en : zh} {...(language === 'zh' ? { sentence: translateZh } : {})}><JobPartsTab job={job} /></LanguageProvider>
    </MantineProvider>)
}

it('a part that ended well has its place, times and what it hands on, and the one whose turn it is those of the newest attempt', () => {
  const [first, second] = partsOf(divided())
  expect(first).toMatchObject({
    number: 1, steps: ['sort', 'pack'], isOnGpu: false, center: 'alpha', unitType: 'core', state: 'succeeded', runS: 2.1, endedAt: '2026-03-01T12:00:03Z',
    handsOn: [{ path: 'b.bin', url: 'https://h/b.bin' }], handsOnBytes: 2 ** 30 })
  expect(second).toMatchObject({
    number: 2, steps: ['solve'], isOnGpu: true, center: 'beta', unitType: 'gpu', state: 'running', startedAt: '2026-03-01T12:01:00Z', handsOn: [], handsOnBytes: null })
})

it('a part that waits for its place has none, also where the newest attempt is of the part before', () => {
  const attempt = { ...divided().attempt, id: 'att_1', center: 'alpha' } as Job['attempt']
  expect(partsOf(divided({ state: 'queued', attempt }))[1]).toMatchObject({ center: '', unitType: '', state: 'queued', startedAt: null })
})

it('a part that has not begun is to come, until the job has ended', () => {
  const parts = divided().steps?.parts.map((part) => ({ ...part, attempt_id: null, place: null })) ?? []
  expect(partsOf(divided({}, { part: 0, parts }))[1]).toMatchObject({ state: null, isDropped: false })
  expect(partsOf(divided({ state: 'failed' }, { part: 0, parts }))).toMatchObject([{ state: 'failed', isDropped: false }, { state: null, isDropped: true }])
})

it('shows the parts in a table that has a name, with what dividing gains and what the steps were weighed by', () => {
  show(divided())
  screen.getByText('It runs in parts: expected to take 5.00 s, of which 2.00 s to hand results on. Whole on GPU it would take 11.0 s.')
  const table = screen.getByRole('group', { name: 'Parts that it runs in' })
  expect(within(table).getAllByRole('columnheader').map((header) => header.textContent)).toEqual([
    'Part', 'Steps of it', 'Kind of unit', 'Place', 'State', 'Started', 'Ended', 'Planned, with handing on', 'Predicted', 'Run time', 'Hands on'])
  const cellsOf = (row: number) => within(within(table).getAllByRole('row')[row] as HTMLElement).getAllByRole('cell').map((cell) => cell.textContent)
  expect(cellsOf(1).filter((_, i) => i !== 5 && i !== 6)).toEqual([
    '1', 'sort, pack', 'CPU', 'alpha / core', 'succeeded', '4.00 s', '2.00 s (1.50 s – 2.50 s)', '2.10 s', 'b.bin https://h/b.binabout 1.00 GiB'])
  expect(cellsOf(2).filter((_, i) => i !== 5 && i !== 6)).toEqual(['2', 'solve', 'GPU', 'beta / gpu', 'running', '1.00 s', '–', '–', '–'])
  expect(within(table).getByRole('link', { name: 'alpha' }).getAttribute('href')).toBe('/centers/alpha')
  const weighed = screen.getByRole('group', { name: 'What each step takes' })
  expect(within(weighed).getAllByRole('row').map((row) => row.textContent)).toEqual([
    'StepOn CPUsOn GPUsTo hand onBest on', 'sort1.00 s5.00 s0 sCPU', 'pack1.00 s5.00 s2.00 sCPU', 'solve40.0 s1.00 s0 sGPU'])
})

it('says it in Chinese', () => {
  show(divided({}, { parts: [], division: { ...divided().steps?.division, reason: 'no center has both CPUs and GPUs for it', steps: [] } as unknown as JobSteps['division'] }), 'zh')
  expect(screen.getByText(/整体运行：/).textContent).toBe('整体运行： 没有计算中心同时有可供它使用的 CPU 和 GPU')
})

it('says why a job with steps runs whole, or that this is not decided yet', () => {
  const says = (steps: Partial<JobSteps>, text: string) => {
    show(divided({}, { parts: [], ...steps }))
    screen.getByText(text)
    expect(screen.queryByRole('group', { name: 'Parts that it runs in' })).toBeNull()
    cleanup()
  }
  says({}, 'It runs whole: no division into its steps is better.')
  says({ division: null }, 'Whether it runs whole or in parts is decided when it is routed.')
  says({ division: null, split: 'never' }, 'It runs whole: its owner has not let divide it.')
})

it('shows nothing of a job without steps', () => {
  const { steps, ...job } = divided()
  expect(steps).toBeDefined()
  expect(show(job as Job).container.querySelector('section')).toBeNull()
  expect(partsOf(job as Job)).toEqual([])
})
