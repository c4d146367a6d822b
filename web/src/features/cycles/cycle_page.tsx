import { Button } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../../api/problem'
import { Link } from '../../app/router/link'
import type { PathParams } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useLanguage, useText } from '../../i18n/language'
import { type Cycle, type CycleReplay, useCycle, useReplay } from '../../queries/cycles'
import { formatBytes, formatDuration, formatNumber } from '../../ui/format'
import { Facts, Page, Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill } from '../../ui/state_pill'
import { EmptyState, ErrorState, LoadingState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { CycleJobs } from './cycle_jobs'
import { JobPlace } from './job_place'

/** One call of the scheduler: what it decided on, each job's place in it, and whether the same comes out again. */
export function CyclePage({ params }: { params: PathParams }) {
  const id = params.id ?? ''
  const t = useText()
  const [filters, change] = useFilters(['job'])
  const query = useCycle(id)
  const isGone = query.error instanceof ApiError && query.error.status === 404
  if (isGone) {
    return (
      <Page title={t('cycles.cycle')}>
        <EmptyState title={t('cycles.gone')} action={<Link href="/cycles">{t('cycles.gone.list')}</Link>}>{t('cycles.gone.text')}</EmptyState>
      </Page>
    )
  }
  return (
    <Page title={t('cycles.cycle')}>
      <Ready query={query}>
        {query.data ? <CycleFacts cycle={query.data} /> : null}
        {filters.job ? <JobPlace key={filters.job} cycle={id} job={filters.job} onClose={() => change({ job: '' })} /> : null}
        <Again cycle={id} />
        <Section title={t('cycles.list')}><CycleJobs cycle={id} /></Section>
      </Ready>
    </Page>
  )
}

function CycleFacts({ cycle }: { cycle: Cycle }) {
  const { t, locale } = useLanguage()
  return (
    <Facts items={[
      [t('cycles.id'), <code key="id">{cycle.id}</code>],
      [t('cycles.decided'), <Time key="d" at={cycle.decided_at} />],
      [t('cycles.replica'), <code key="r">{cycle.decided_by}</code>],
      [t('cycles.jobs'), formatNumber(cycle.job_count, locale)],
      [t('cycles.started'), formatNumber(cycle.start_count, locale)],
      [t('cycles.waited'), formatNumber(cycle.job_count - cycle.start_count, locale)],
      [t('cycles.took'), formatDuration(cycle.decision_s)],
      [t('cycles.size'), formatBytes(cycle.bytes)],
    ]} />
  )
}

/** Has the server decide the cycle again, when one asks for it: it is a thousand decisions. */
function Again({ cycle }: { cycle: string }) {
  const t = useText()
  const [isAsked, setAsked] = useState(false)
  const query = useReplay(cycle, '', isAsked)
  return (
    <Section title={t('cycles.again')}>
      <p className="dim">{t('cycles.again.hint')}</p>
      {query.data ? null : <Button loading={query.isFetching} onClick={() => (isAsked ? void query.refetch() : setAsked(true))}>{t('cycles.again.do')}</Button>}
      <div aria-live="polite">
        {query.isFetching && !query.data ? <LoadingState /> : null}
        {query.isError ? <ErrorState error={query.error} /> : null}
        {query.data ? <Outcome replay={query.data} /> : null}
      </div>
    </Section>
  )
}

function Outcome({ replay }: { replay: CycleReplay }) {
  const { t, locale } = useLanguage()
  return (
    <>
      <Facts items={[
        [t('cycles.again.outcome'), <StatePill key="s" tone={replay.is_same ? 'good' : 'bad'}>{t(replay.is_same ? 'cycles.again.same' : 'cycles.again.other')}</StatePill>],
        [t('cycles.started'), formatNumber(replay.start_count, locale)],
        [t('cycles.waited'), formatNumber(replay.wait_count, locale)],
      ]} />
      {replay.differences.length > 0 ? (
        <>
          <p>{t('cycles.again.differences')}</p>
          <ul>{replay.differences.map((text, i) => <li key={i}><ServerText>{text}</ServerText></li>)}</ul>
        </>
      ) : null}
    </>
  )
}
