import { Button } from '@mantine/core'
import type { JobEvent } from '../../../api/events'
import { useText } from '../../../i18n/language'
import { type Job, useJobEvents } from '../../../queries/jobs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, nothing, secondsBetween } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { Place } from '../../routing/place'
import { placeName } from '../../routing/place_name'
import { JobStatePill, Outcome } from '../job_state'
import { AttemptPhases } from './attempt_phases'
import { attemptsOf, type PastAttempt } from './attempts'
import { phasesOf } from './staging'
import styles from './timeline.module.css'

/** The evidence of an event as name = value, one after the other. */
function evidenceText(evidence: Record<string, unknown>): string {
  return Object.entries(evidence).map(([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')
}

/** What happened to a job, with how long each state took, and its attempts. */
export function JobTimelineTab({ job }: { job: Job }) {
  const t = useText()
  const query = useJobEvents(job.id)
  const events = query.items ?? []
  return (
    <>
      <Ready query={query}>
        <Attempts attempts={attemptsOf(events)} />
        <ol className={styles.list} aria-label={t('jobs.tab.timeline')}>
          {events.map((event, i) => <Event key={event.id} event={event} after={secondsBetween(events[i - 1]?.at, event.at)} />)}
        </ol>
        {query.hasNextPage ? <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{t('ui.more')}</Button> : null}
      </Ready>
      {job.attempt ? <NewestAttempt attempt={job.attempt} /> : null}
    </>
  )
}

function placeOf({ center, unitType, unitCount }: PastAttempt) {
  return center && unitType && unitCount !== null ? { center, unit_type: unitType, unit_count: unitCount } : null
}

function Attempts({ attempts }: { attempts: readonly PastAttempt[] }) {
  const t = useText()
  if (attempts.length === 0) return null
  const columns: Column<PastAttempt>[] = [
    { id: 'number', title: t('jobs.attempt'), isNumber: true, cell: (a) => a.number, csv: (a) => a.number },
    { id: 'place', title: t('jobs.place'), csv: (a) => {
      const place = placeOf(a)
      return place ? placeName(place) : a.center
    }, cell: (a) => {
      const place = placeOf(a)
      return place ? <Place at={place} /> : a.center || nothing
    } },
    { id: 'placed', title: t('jobs.attempt.placed'), cell: (a) => <Time at={a.placedAt} />, csv: (a) => a.placedAt },
    { id: 'started', title: t('jobs.started'), cell: (a) => <Time at={a.startedAt} />, csv: (a) => a.startedAt },
    { id: 'ended', title: t('jobs.ended'), cell: (a) => <Time at={a.endedAt} />, csv: (a) => a.endedAt },
    { id: 'run', title: t('jobs.attempt.held'), isNumber: true, cell: (a) => formatDuration(a.runS), csv: (a) => a.runS },
    { id: 'outcome', title: t('jobs.attempt.outcome'), cell: (a) => (a.outcome ? <Outcome outcome={a.outcome} />
      : a.endedAt && a.state === 'queued' ? t('jobs.attempt.again') : <JobStatePill state={a.state} />), csv: (a) => a.outcome ?? a.state },
    { id: 'reason', title: t('jobs.detail'), isText: true, cell: (a) => (a.reason ? <ServerText>{a.reason}</ServerText> : nothing), csv: (a) => a.reason },
  ]
  return (
    <Section title={t('jobs.attempts')}>
      <DataTable isPlain name="attempts" label={t('jobs.attempts')} columns={columns} rows={attempts} rowKey={(a) => a.id} />
    </Section>
  )
}

function Event({ event, after }: { event: JobEvent; after: number | null }) {
  const evidence = evidenceText(event.evidence)
  return (
    <li>
      <Time at={event.at} />
      <span className={`${styles.after} dim`}>{after === null ? '' : `+ ${formatDuration(after)}`}</span>
      <JobStatePill state={event.state} />
      <div>
        <ServerText>{event.cause}</ServerText>
        {evidence ? <p className="dim">{evidence}</p> : null}
      </div>
    </li>
  )
}

function NewestAttempt({ attempt }: { attempt: NonNullable<Job['attempt']> }) {
  const t = useText()
  return (
    <Section title={t('jobs.attempt.n', { n: attempt.epoch })}>
      <Facts items={[
        [t('jobs.attempt'), <code key="id">{attempt.id}</code>],
        [t('jobs.state'), attempt.outcome ? <Outcome key="o" outcome={attempt.outcome} /> : t(attempt.state === 'ended' ? 'jobs.attempt.ended' : `jobs.state.${attempt.state}`)],
        [t('jobs.units'), attempt.units.join(', ')],
        [t('jobs.cpus'), attempt.cpus.join(', ')],
        [t('jobs.detail'), attempt.detail ? <ServerText key="d">{attempt.detail}</ServerText> : null],
      ]} />
      <div style={{ marginTop: 10 }}><AttemptPhases phases={phasesOf(attempt, t)} /></div>
    </Section>
  )
}
