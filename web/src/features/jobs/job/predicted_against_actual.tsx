import { useText } from '../../../i18n/language'
import type { Placement } from '../../../queries/jobs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, formatMoney, nothing } from '../../../ui/format'
import { Section } from '../../../ui/page'
import { StatePill } from '../../../ui/state_pill'

interface Row {
  id: string
  name: string
  predicted: string
  interval: string
  actual: string
  ratio: number | null
  isWithin: boolean | null
}

/** What was predicted for the attempt, and what came. */
export function PredictedAgainstActual({ actual }: { actual: NonNullable<Placement['actual']> }) {
  const t = useText()
  const interval = (low?: number | null, high?: number | null) =>
    (low === null || low === undefined || high === null || high === undefined ? nothing : `${formatDuration(low)} – ${formatDuration(high)}`)
  const wait = actual.start_wait_s ?? null
  const [waitLow, waitHigh] = [actual.predicted_start_wait_low_s ?? null, actual.predicted_start_wait_high_s ?? null]
  const rows: Row[] = [
    { id: 'run', name: t('jobs.actual.run'), predicted: formatDuration(actual.predicted_run_s), interval: interval(actual.predicted_low_s, actual.predicted_high_s),
      actual: formatDuration(actual.run_s), ratio: actual.ratio, isWithin: actual.is_within_interval ?? null },
    { id: 'wait', name: t('jobs.actual.wait'), predicted: formatDuration(actual.predicted_start_wait_s), interval: interval(waitLow, waitHigh),
      actual: formatDuration(wait), ratio: null, isWithin: wait === null || waitLow === null || waitHigh === null ? null : wait >= waitLow && wait <= waitHigh },
    ...(actual.predicted_cost || actual.cost ? [{ id: 'cost', name: t('jobs.actual.cost'), predicted: formatMoney(actual.predicted_cost), interval: nothing,
      actual: formatMoney(actual.cost), ratio: null, isWithin: null }] : []),
  ]
  const columns: Column<Row>[] = [
    { id: 'name', title: t('jobs.actual.figure'), cell: (row) => row.name },
    { id: 'predicted', title: t('jobs.predicted'), isNumber: true, cell: (row) => row.predicted },
    { id: 'interval', title: t('jobs.interval'), isNumber: true, cell: (row) => row.interval },
    { id: 'actual', title: t('jobs.actual'), isNumber: true, cell: (row) => row.actual },
    { id: 'ratio', title: t('jobs.actual.ratio'), isNumber: true, cell: (row) => (row.ratio === null ? nothing : row.ratio.toFixed(2)) },
    { id: 'within', title: t('jobs.actual.verdict'), cell: (row) => (row.isWithin === null ? nothing
      : <StatePill tone={row.isWithin ? 'good' : 'warn'}>{t(row.isWithin ? 'jobs.actual.within' : 'jobs.actual.outside')}</StatePill>) },
  ]
  return (
    <Section title={t('jobs.actual.title')}>
      <DataTable isPlain name="actual" label={t('jobs.actual.title')} columns={columns} rows={rows} rowKey={(row) => row.id} />
    </Section>
  )
}
