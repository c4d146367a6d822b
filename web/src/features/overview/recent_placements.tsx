import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type Prediction, useNewestPredictions } from '../../queries/predictions'
import { Ago } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration } from '../../ui/format'
import { EmptyState, Ready } from '../../ui/states'
import { Outcome } from '../jobs/job_state'
import { Place } from '../routing/place'
import { placeName } from '../routing/place_name'

/** Those of a center, or of all (''). */
export function useRecentPlacements(center = '') {
  return useNewestPredictions(10, center)
}

export function RecentPlacements({ center = '' }: { center?: string }) {
  const t = useText()
  const { may } = useSession()
  const query = useRecentPlacements(center)
  const columns: Column<Prediction>[] = [
    { id: 'job', title: t('jobs.job'), cell: (p) => <Link href={pathTo('/jobs/:id', { id: p.job_id })}>{p.job_type}</Link>, csv: (p) => p.job_id },
    { id: 'place', title: t('jobs.place'), cell: (p) => <Place at={p} />, csv: placeName },
    { id: 'predicted', title: t('overview.predicted'), isNumber: true, cell: (p) => (p.predicted
      ? <span title={`${formatDuration(p.predicted.low_s)} – ${formatDuration(p.predicted.high_s)}`}>{formatDuration(p.predicted.run_s)}</span> : '–'), csv: (p) => p.predicted?.run_s },
    { id: 'actual', title: t('overview.actual'), isNumber: true, cell: (p) => formatDuration(p.actual_run_s), csv: (p) => p.actual_run_s },
    { id: 'outcome', title: t('overview.outcome'), cell: (p) => (p.outcome ? <Outcome outcome={p.outcome} /> : <span className="dim">{t('overview.open')}</span>), csv: (p) => p.outcome },
    { id: 'decided', title: t('overview.decided'), isNumber: true, cell: (p) => <Ago at={p.decided_at} />, csv: (p) => p.decided_at },
  ]
  return (
    <Ready query={query}>
      <DataTable isPlain name="placements" label={t('overview.placements')} columns={columns} rows={query.data?.items ?? []}
        rowKey={(p) => p.attempt_id}
        empty={<EmptyState title={t('overview.placements.none')}
          action={may('submit_jobs') ? <Link href="/submit">{t('overview.placements.first')}</Link> : undefined} />} />
    </Ready>
  )
}
