import { Button, Tabs } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { navigate } from '../../../app/router/location'
import type { PathParams } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import type { TextKey } from '../../../i18n/en'
import { useText } from '../../../i18n/language'
import { hasEnded, type Job, useJob } from '../../../queries/jobs'
import { formatBytes, formatDuration, formatEnergy, nothing } from '../../../ui/format'
import { Facts, Page } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { LoadingState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { Place } from '../../routing/place'
import { JobStatePill, Outcome } from '../job_state'
import { CancelJob } from './cancel_job'
import { JobCostTab } from './job_cost_tab'
import { dataOf } from './job_data'
import { JobDataTab } from './job_data_tab'
import { JobLogTab } from './job_log_tab'
import { JobOperatorsTab } from './job_operators_tab'
import { JobPartsTab } from './job_parts_tab'
import { JobTimelineTab } from './job_timeline_tab'
import { JobWhatIfTab } from './job_what_if_tab'
import { JobWhyTab } from './job_why_tab'
import { stagingFacts } from './staging'

// It needs the writer of YAML, which is fetched when somebody looks.
const JobSpecTab = lazy(async () => ({ default: (await import('./job_spec_tab')).JobSpecTab }))

const tabs = ['why', 'whatif', 'steps', 'timeline', 'log', 'cost', 'operators', 'data', 'spec'] as const
type Tab = (typeof tabs)[number]

export function JobPage({ params }: { params: PathParams }) {
  const id = params.id ?? ''
  const t = useText()
  const query = useJob(id)
  const job = query.data
  return (
    <Page title={job?.name || id} mark={job ? <JobStatePill state={job.state} /> : null} actions={job ? <Actions job={job} /> : null}>
      <Ready query={query}>{job ? <><JobFacts job={job} /><JobTabs job={job} /></> : null}</Ready>
      <p className="visually-hidden" role="status">{job ? `${t('jobs.state')}: ${t(`jobs.state.${job.state}`)}` : ''}</p>
    </Page>
  )
}

function Actions({ job }: { job: Job }) {
  const t = useText()
  const { may } = useSession()
  const mayCancel = may('cancel_any_job') || may('submit_jobs')
  return (
    <>
      {may('submit_jobs') && job.label === 'job'
        ? <Button onClick={() => navigate(`/submit?from=${encodeURIComponent(job.id)}`)}>{t('jobs.again')}</Button> : null}
      {mayCancel && !hasEnded(job.state) ? <CancelJob job={job} /> : null}
    </>
  )
}

function JobFacts({ job }: { job: Job }) {
  const t = useText()
  const attempt = job.attempt
  return (
    <Facts items={[
      [t('jobs.id'), <code key="id">{job.id}</code>],
      [t('jobs.project'), job.project],
      [t('jobs.type'), job.type],
      [t('jobs.place'), attempt ? <Place key="p" at={attempt} /> : null],
      [t('jobs.submitted'), <Time key="s" at={job.submitted_at} />],
      [t('jobs.started'), <Time key="b" at={job.started_at} />],
      [t('jobs.ended'), <Time key="e" at={job.ended_at} />],
      [t('jobs.predicted'), predictedText(job.predicted)],
      [t('jobs.run'), formatDuration(job.run_s)],
      ...stagingFacts(attempt, t),
      ...(attempt?.ended_at ? [
        [t('jobs.cpu'), formatDuration(attempt.cpu_s)], [t('jobs.memory'), formatBytes(attempt.max_resident_bytes)]] as const : []),
      ...(attempt?.nodes ? [[t('jobs.nodes'), attempt.nodes]] as const : []),
      ...(attempt?.energy_j ? [[t('jobs.energy'), formatEnergy(attempt.energy_j)]] as const : []),
      ...(job.exit_code === null ? [] : [[t('jobs.exit'), String(job.exit_code)]] as const),
      ...(job.end_reason ? [[t('jobs.reason'), <EndReason key="r" job={job} />]] as const : []),
      ...(job.waiting_reason ? [[t('jobs.waiting'), <ServerText key="w">{job.waiting_reason}</ServerText>]] as const : []),
      ...(attempt?.center_queue ? [[t('jobs.queue'), <ServerText key="c">{attempt.center_queue.reason}</ServerText>]] as const : []),
      ...(attempt?.center_queue?.expected_start
        ? [[t('jobs.queue.start'), <Time key="q" at={attempt.center_queue.expected_start} />]] as const : []),
    ]} />
  )
}

/** A job that is divided, and has no place yet, has no interval. */
function predictedText(predicted: Job['predicted']): string {
  if (!predicted || predicted.run_s === null) return nothing
  const interval = predicted.low_s === null ? '' : ` (${formatDuration(predicted.low_s)} – ${formatDuration(predicted.high_s)})`
  return `${formatDuration(predicted.run_s)}${interval}`
}

/** What the end of its attempt is called, where it had one, and the server's words. */
function EndReason({ job }: { job: Job }) {
  const outcome = job.attempt?.outcome
  return <>{outcome ? <><Outcome outcome={outcome} /> </> : null}<ServerText>{job.end_reason}</ServerText></>
}

function JobTabs({ job }: { job: Job }) {
  const t = useText()
  const [filters, change] = useFilters(['tab'])
  const { inputs, outputs } = dataOf(job)
  // Where a probe goes is asked for with it: nothing about it could be otherwise.
  const isShown = { whatif: job.label === 'job', steps: job.steps !== undefined, data: inputs.length + outputs.length > 0 }
  const shown = tabs.filter((tab) => (tab === 'whatif' || tab === 'steps' || tab === 'data' ? isShown[tab] : true))
  const current: Tab = shown.find((tab) => tab === filters.tab) ?? 'why'
  const isWaiting = job.state === 'queued' || job.state === 'metering'
  const titleOf = (tab: Tab): TextKey => (tab === 'why' && isWaiting ? 'jobs.tab.waiting' : `jobs.tab.${tab}`)
  return (
    <Tabs value={current} onChange={(tab) => change({ tab: tab === 'why' || !tab ? '' : tab })} mt="md">
      <Tabs.List mb="md">{shown.map((tab) => <Tabs.Tab key={tab} value={tab}>{t(titleOf(tab))}</Tabs.Tab>)}</Tabs.List>
      <Tabs.Panel value="why"><JobWhyTab job={job} isWaiting={isWaiting} /></Tabs.Panel>
      <Tabs.Panel value="whatif"><JobWhatIfTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="steps"><JobPartsTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="timeline"><JobTimelineTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="log"><JobLogTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="cost"><JobCostTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="operators"><JobOperatorsTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="data"><JobDataTab job={job} /></Tabs.Panel>
      <Tabs.Panel value="spec"><Suspense fallback={<LoadingState />}><JobSpecTab job={job} /></Suspense></Tabs.Panel>
    </Tabs>
  )
}
