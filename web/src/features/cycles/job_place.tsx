import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { type CycleReplay, type JobInCycle, useReplay } from '../../queries/cycles'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration } from '../../ui/format'
import { Facts, Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { Ready } from '../../ui/states'
import { CandidatesTable } from '../routing/candidates_table'
import { DecisionEvidence } from '../routing/decision_evidence'
import { Place } from '../routing/place'
import { placeName } from '../routing/place_name'

type Start = JobInCycle['starts_before'][number]

/** Why a job started as it did, or waits: the cycle is decided again, with all that was looked at for this job. */
export function JobPlace({ cycle, job, onClose }: { cycle: string; job: string; onClose: () => void }) {
  const t = useText()
  const query = useReplay(cycle, job, true)
  const frame = useRef<HTMLDivElement>(null)
  // It stands above the list from which it is asked for.
  useEffect(() => {
    const before = document.activeElement
    frame.current?.focus()
    // Back to where it was asked for, so that a reader by keyboard goes on there.
    return () => (before instanceof HTMLElement ? before.focus() : undefined)
  }, [])
  return (
    <div ref={frame} tabIndex={-1}>
      <Section title={t('cycles.job.of', { job })} side={<Button onClick={onClose}>{t('cycles.job.close')}</Button>}>
        <p><Link className="in-text" href={pathTo('/jobs/:id', { id: job })}>{t('jobs.job')} <code>{job}</code></Link></p>
        <Ready query={query}>{query.data?.job ? <Explained replay={query.data} job={query.data.job} /> : null}</Ready>
      </Section>
    </div>
  )
}

function Explained({ replay, job }: { replay: CycleReplay; job: JobInCycle }) {
  const t = useText()
  const { waiting } = job
  return (
    <>
      <Facts items={[
        [t('cycles.job.place'), waiting ? <ServerText key="w">{waiting.reason}</ServerText>
          : t('cycles.job.starts', { n: job.position ?? 0, all: replay.start_count })],
        ...(waiting ? [[t('cycles.list.rank'), waiting.priority_rank], [t('cycles.job.ahead'), waiting.jobs_ahead]] as const : []),
        ...(waiting?.planned ? [[t('cycles.job.planned'),
          t('cycles.job.planned.from', { place: placeName(waiting.planned), time: formatDuration(waiting.planned.from_s) })]] as const : []),
      ]} />
      {job.starts_before.length > 0 ? <Section title={t('cycles.job.before')}><StartsBefore starts={job.starts_before} /></Section> : null}
      <Section title={t('jobs.why.candidates')}><CandidatesTable decision={job.decision} /></Section>
      <DecisionEvidence decision={job.decision} />
    </>
  )
}

function StartsBefore({ starts }: { starts: readonly Start[] }) {
  const t = useText()
  const columns: Column<Start>[] = [
    { id: 'job_id', title: t('jobs.job'), csv: (s) => s.job_id, cell: (s) => <Link href={pathTo('/jobs/:id', { id: s.job_id })}><code>{s.job_id}</code></Link> },
    { id: 'place', title: t('jobs.place'), cell: (s) => <Place at={s} />, csv: (s) => placeName(s) },
    { id: 'run_s', title: t('jobs.predicted'), isNumber: true, cell: (s) => formatDuration(s.run_s > 0 ? s.run_s : null), csv: (s) => (s.run_s > 0 ? s.run_s : null) },
  ]
  return <DataTable isPlain name="starts-before" label={t('cycles.job.before')} columns={columns} rows={starts} rowKey={(s) => s.job_id} />
}
