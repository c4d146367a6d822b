import { Button } from '@mantine/core'
import type { JobEvent } from '../../../api/events'
import { useText } from '../../../i18n/language'
import { type Job, useJobEvents } from '../../../queries/jobs'
import { formatDuration, secondsBetween } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { JobStatePill, Outcome } from '../job_state'
import styles from './timeline.module.css'

/** The evidence of an event as name = value, one after the other. */
function evidenceText(evidence: Record<string, unknown>): string {
  return Object.entries(evidence).map(([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')
}

/** What happened to a job, with how long each state took, and its newest attempt. */
export function JobTimelineTab({ job }: { job: Job }) {
  const t = useText()
  const query = useJobEvents(job.id)
  const events = query.items ?? []
  return (
    <>
      <Ready query={query}>
        <ol className={styles.list} aria-label={t('jobs.tab.timeline')}>
          {events.map((event, i) => <Event key={event.id} event={event} after={secondsBetween(events[i - 1]?.at, event.at)} />)}
        </ol>
        {query.hasNextPage ? <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{t('ui.more')}</Button> : null}
      </Ready>
      {job.attempt ? <NewestAttempt attempt={job.attempt} /> : null}
    </>
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
        {event.cause}
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
        [t('jobs.detail'), attempt.detail],
      ]} />
    </Section>
  )
}
