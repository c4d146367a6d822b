import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useLanguage } from '../../i18n/language'
import type { Prediction } from '../../queries/predictions'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, formatNumber, nothing } from '../../ui/format'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { Outcome } from '../jobs/job_state'

function ratio(p: Prediction): number | null {
  return p.predicted && p.actual_run_s !== null ? p.actual_run_s / p.predicted.run_s : null
}

function isWithin(p: Prediction): boolean | null {
  return p.predicted && p.actual_run_s !== null ? p.actual_run_s >= p.predicted.low_s && p.actual_run_s <= p.predicted.high_s : null
}

/** Every figure behind the charts. */
export function AttemptsTable({ predictions, pages }: {
  predictions: readonly Prediction[]
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}) {
  const { t, locale } = useLanguage()
  const columns: Column<Prediction>[] = [
    { id: 'ended_at', title: t('quality.ended'), cell: (p) => <Time at={p.ended_at} />, csv: (p) => p.ended_at },
    { id: 'job_id', title: t('quality.job'), cell: (p) => <Link href={pathTo('/jobs/:id', { id: p.job_id })}><code>{p.job_id}</code></Link>, csv: (p) => p.job_id },
    { id: 'attempt_id', title: t('ui.id'), isHidden: true, cell: (p) => <code>{p.attempt_id}</code>, csv: (p) => p.attempt_id },
    { id: 'job_type', title: t('quality.type'), cell: (p) => p.job_type || nothing, csv: (p) => p.job_type },
    { id: 'unit_type', title: t('quality.unit'), cell: (p) => `${p.center} / ${p.unit_type}`, csv: (p) => `${p.center}/${p.unit_type}` },
    { id: 'unit_count', title: t('quality.units.count'), isNumber: true, cell: (p) => p.unit_count, csv: (p) => p.unit_count },
    { id: 'predicted_s', title: t('quality.predicted'), isNumber: true, cell: (p) => formatDuration(p.predicted?.run_s), csv: (p) => p.predicted?.run_s },
    { id: 'interval_s', title: t('quality.interval'), isNumber: true, cell: (p) => (p.predicted ? `${formatDuration(p.predicted.low_s)} – ${formatDuration(p.predicted.high_s)}` : nothing), csv: (p) => p.predicted && `${p.predicted.low_s} ${p.predicted.high_s}` },
    { id: 'actual_s', title: t('quality.actual'), isNumber: true, cell: (p) => formatDuration(p.actual_run_s), csv: (p) => p.actual_run_s },
    { id: 'ratio', title: t('quality.residuals.axis'), isNumber: true, cell: (p) => formatNumber(ratio(p), locale, 3), csv: ratio },
    { id: 'within', title: t('quality.in'), cell: (p) => {
      const within = isWithin(p)
      return within === null ? nothing : <StatePill tone={within ? 'good' : 'warn'}>{t(within ? 'ui.yes' : 'ui.no')}</StatePill>
    }, csv: isWithin },
    { id: 'basis', title: t('quality.basis'), isHidden: true, cell: (p) => t(`quality.basis.${p.raw_prediction_basis}`), csv: (p) => p.raw_prediction_basis },
    { id: 'outcome', title: t('quality.outcome'), cell: (p) => (p.outcome ? <Outcome outcome={p.outcome} /> : nothing), csv: (p) => p.outcome },
  ]
  return <DataTable name="predictions" label={t('quality.attempts')} columns={columns} rows={predictions} rowKey={(p) => p.attempt_id} pages={pages} />
}
