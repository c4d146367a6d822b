import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { ResultComparison } from '../../../queries/probe_tasks'
import { CsvButton } from '../../../ui/csv_button'
import { DataTable } from '../../../ui/data_table'
import { formatDuration } from '../../../ui/format'
import { IntervalBar } from '../../../ui/interval'
import { Section } from '../../../ui/page'
import { formatFigure, formatSize } from '../../../ui/rates'
import { EmptyState } from '../../../ui/states'
import measuring from '../../measuring/measuring.module.css'
import { bestFirst, isSuperseded } from './together'

// There is a table for each operator, size and count of units, the best places first.
const bestAtFirst = 10

/** The same work on the same count of units, place by place, best first (M12) by the newest results of each together (M17). */
export function Comparison({ name, items }: { name: string; items: readonly ResultComparison[] }) {
  const t = useText()
  if (items.length === 0) return <Section title={t('runs.comparison')}><EmptyState title={t('runs.comparison.none')} /></Section>
  const rows = () => items.flatMap((item) => item.places.map((p) => [item.operator_id, item.operator_version, formatSize(item.parameters), item.unit_count,
    p.center, p.unit_type, p.median_s, p.ci_low_s, p.ci_high_s, p.ratio, p.is_tied, p.error, p.sample_count, p.probe_run_id,
    p.together.median_s, p.together.ci_low_s, p.together.ci_high_s, p.together.ratio, p.together.is_tied, p.together.probe_run_ids.join(' ')]))
  return (
    <Section title={t('runs.comparison')} side={<CsvButton name={`comparison-${name}`} header={['operator', 'version', 'size', 'unit_count', 'center', 'unit_type',
      'median_s', 'ci_low_s', 'ci_high_s', 'ratio', 'is_tied', 'error', 'sample_count', 'probe_run',
      'together_median_s', 'together_ci_low_s', 'together_ci_high_s', 'together_ratio', 'together_is_tied', 'together_probe_runs']} rows={rows} />}>
      <p className="dim">{t('runs.comparison.note')}</p>
      <div className={measuring.stack}>
        {items.map((item) => <ComparedOperator key={`${item.operator_id} ${formatSize(item.parameters)} ${item.unit_count}`} item={item} />)}
      </div>
    </Section>
  )
}

function ComparedOperator({ item }: { item: ResultComparison }) {
  const t = useText()
  const title = t('runs.comparison.on', { operator: item.operator_id, size: formatSize(item.parameters), n: item.unit_count })
  const to = item.places.reduce((most, place) => Math.max(most, place.together.ci_high_s), 0)
  return (
    <div>
      <h3 style={{ fontSize: 12, fontWeight: 500, margin: '0 0 4px' }}>{title}</h3>
      <DataTable isPlain name="comparison" label={title} rowsAtFirst={bestAtFirst} rows={bestFirst(item.places)} rowKey={(p) => p.probe_run_id} columns={[
        { id: 'place', title: t('runs.place'), cell: (p) => <Link href={pathTo('/probe-runs/:id', { id: p.probe_run_id })}>{p.center} / {p.unit_type}</Link> },
        { id: 'median', title: t('measure.median'), isNumber: true, cell: ({ together: p }) => formatDuration(p.median_s) },
        { id: 'interval', title: t('measure.interval'), isNumber: true, cell: ({ together: p }) => `${formatDuration(p.ci_low_s)} – ${formatDuration(p.ci_high_s)}` },
        { id: 'plot', title: t('runs.comparison.plot'),
          cell: ({ together: p }) => <IntervalBar low={p.ci_low_s} value={p.median_s} high={p.ci_high_s} from={0} to={to} /> },
        { id: 'ratio', title: t('runs.comparison.ratio'), isNumber: true, cell: ({ together: p }) => `${p.ratio.toFixed(2)} ×` },
        { id: 'tied', title: t('runs.comparison.tied'), cell: ({ together: p }) => t(p.is_tied ? 'ui.yes' : 'ui.no') },
        { id: 'results', title: t('runs.comparison.results'), isNumber: true, cell: (p) => p.together.probe_run_ids.length },
        { id: 'single', title: t('runs.comparison.single'), isNumber: true,
          cell: (p) => (isSuperseded(p) ? t('runs.comparison.superseded', { median: formatDuration(p.median_s) }) : formatDuration(p.median_s)) },
        { id: 'error', title: t('measure.error'), isNumber: true, cell: (p) => formatFigure(p.error) },
        { id: 'samples', title: t('measure.samples'), isNumber: true, cell: (p) => p.sample_count },
      ]} />
    </div>
  )
}
