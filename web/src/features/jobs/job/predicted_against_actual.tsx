import { useText } from '../../../i18n/language'
import type { Placement } from '../../../queries/jobs'
import type { CsvValue } from '../../../ui/csv'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, formatMoney, type Money, nothing } from '../../../ui/format'
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
  /** The same as plain values, for CSV. */
  plain: { predicted: CsvValue; interval: CsvValue; actual: CsvValue }
}

/** Both ends in seconds, as intervals stand in CSV. */
function plainInterval(low?: number | null, high?: number | null): string {
  return `${low ?? ''} ${high ?? ''}`.trim()
}

function moneyOrNone(money: Money | null | undefined): string {
  return money ? formatMoney(money) : ''
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
      actual: formatDuration(actual.run_s), ratio: actual.ratio, isWithin: actual.is_within_interval ?? null,
      plain: { predicted: actual.predicted_run_s, interval: plainInterval(actual.predicted_low_s, actual.predicted_high_s), actual: actual.run_s } },
    { id: 'wait', name: t('jobs.actual.wait'), predicted: formatDuration(actual.predicted_start_wait_s), interval: interval(waitLow, waitHigh),
      actual: formatDuration(wait), ratio: null, isWithin: wait === null || waitLow === null || waitHigh === null ? null : wait >= waitLow && wait <= waitHigh,
      plain: { predicted: actual.predicted_start_wait_s, interval: plainInterval(waitLow, waitHigh), actual: wait } },
    ...(actual.predicted_cost || actual.cost ? [{ id: 'cost', name: t('jobs.actual.cost'), predicted: formatMoney(actual.predicted_cost), interval: nothing,
      actual: formatMoney(actual.cost), ratio: null, isWithin: null,
      plain: { predicted: moneyOrNone(actual.predicted_cost), interval: '', actual: moneyOrNone(actual.cost) } }] : []),
  ]
  const columns: Column<Row>[] = [
    { id: 'name', title: t('jobs.actual.figure'), cell: (row) => row.name, csv: (row) => row.id },
    { id: 'predicted', title: t('jobs.predicted'), isNumber: true, cell: (row) => row.predicted, csv: (row) => row.plain.predicted },
    { id: 'interval', title: t('jobs.interval'), isNumber: true, cell: (row) => row.interval, csv: (row) => row.plain.interval },
    { id: 'actual', title: t('jobs.actual'), isNumber: true, cell: (row) => row.actual, csv: (row) => row.plain.actual },
    { id: 'ratio', title: t('jobs.actual.ratio'), isNumber: true, cell: (row) => (row.ratio === null ? nothing : row.ratio.toFixed(2)), csv: (row) => row.ratio },
    { id: 'within', title: t('jobs.actual.verdict'), cell: (row) => (row.isWithin === null ? nothing
      : <StatePill tone={row.isWithin ? 'good' : 'warn'}>{t(row.isWithin ? 'jobs.actual.within' : 'jobs.actual.outside')}</StatePill>), csv: (row) => row.isWithin },
  ]
  return (
    <Section title={t('jobs.actual.title')}>
      <DataTable isPlain name="actual" label={t('jobs.actual.title')} columns={columns} rows={rows} rowKey={(row) => row.id} />
    </Section>
  )
}
