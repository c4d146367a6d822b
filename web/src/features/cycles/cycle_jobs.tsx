import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { changeFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type CycleJob, useCycleJobs } from '../../queries/cycles'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, nothing } from '../../ui/format'
import { StatePill } from '../../ui/state_pill'
import { EmptyState, Ready } from '../../ui/states'
import { Place } from '../routing/place'
import { placeName } from '../routing/place_name'

/** The jobs of a cycle: those that start, in their order, then those that wait, by priority rank. */
export function CycleJobs({ cycle }: { cycle: string }) {
  const t = useText()
  const query = useCycleJobs(cycle)
  const columns = useColumns(cycle)
  return (
    <Ready query={query}>
      <DataTable name="cycle-jobs" label={t('cycles.list')} columns={columns} rows={query.items ?? []} rowKey={(job) => job.job_id} pages={query}
        empty={<EmptyState title={t('cycles.list.none')} />} />
    </Ready>
  )
}

function Outcome({ job }: { job: CycleJob }) {
  const t = useText()
  if (job.is_start) return <StatePill tone="good">{t('cycles.list.start')}</StatePill>
  const word = job.waits_for === 'units' || job.waits_for === 'host' ? job.waits_for : 'wait'
  return <StatePill tone="idle">{t(`cycles.list.${word}`)}</StatePill>
}

function useColumns(cycle: string): Column<CycleJob>[] {
  const t = useText()
  const explain = (job: CycleJob) => pathTo('/cycles/:id', { id: cycle }) + changeFilters('', { job: job.job_id })
  return [
    { id: 'position', title: t('cycles.list.position'), isNumber: true, cell: (j) => j.position ?? nothing, csv: (j) => j.position },
    { id: 'job_id', title: t('jobs.job'), csv: (j) => j.job_id, cell: (j) => <Link href={pathTo('/jobs/:id', { id: j.job_id })}><code>{j.job_id}</code></Link> },
    { id: 'label', title: t('jobs.label'), isHidden: true, cell: (j) => t(`jobs.label.${j.label}`), csv: (j) => j.label },
    { id: 'project', title: t('jobs.project'), cell: (j) => j.project, csv: (j) => j.project },
    { id: 'priority', title: t('cycles.list.priority'), isNumber: true, isHidden: true, cell: (j) => j.priority, csv: (j) => j.priority },
    { id: 'outcome', title: t('cycles.list.outcome'), cell: (j) => <Outcome job={j} />, csv: (j) => j.waits_for ?? 'starts' },
    { id: 'place', title: t('jobs.place'), cell: (j) => (j.place ? <Place at={j.place} /> : nothing), csv: (j) => j.place && placeName(j.place) },
    { id: 'waited_s', title: t('cycles.list.waited'), isNumber: true, cell: (j) => formatDuration(j.waited_s), csv: (j) => j.waited_s },
    { id: 'start_s', title: t('cycles.list.starts_in'), isNumber: true, cell: (j) => formatDuration(j.place?.start_s), csv: (j) => j.place?.start_s },
    { id: 'run_s', title: t('jobs.predicted'), isNumber: true, cell: (j) => formatDuration(j.place?.run_s), csv: (j) => j.place?.run_s },
    { id: 'completion_s', title: t('cycles.list.ends_in'), isNumber: true, isHidden: true, cell: (j) => formatDuration(j.place?.completion_s), csv: (j) => j.place?.completion_s },
    { id: 'priority_rank', title: t('cycles.list.rank'), isNumber: true, isHidden: true, cell: (j) => j.priority_rank ?? nothing, csv: (j) => j.priority_rank },
    { id: 'why', title: t('cycles.list.why'), cell: (j) => (
      <Link href={explain(j)} aria-label={t('cycles.list.explain.job', { job: j.job_id })}>{t('cycles.list.explain')}</Link>) },
  ]
}
