import { useText } from '../../../i18n/language'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, formatShare, nothing } from '../../../ui/format'
import { LoadBar } from '../../../ui/load_bar'
import type { Phase } from './staging'

/** How long an attempt held its units for staging, and how long for its command, in the order in which that happened. */
export function AttemptPhases({ phases }: { phases: readonly Phase[] }) {
  const t = useText()
  if (phases.length === 0) return null
  const columns: Column<Phase>[] = [
    { id: 'phase', title: t('jobs.staging.phase'), cell: (p) => t(`jobs.staging.phase.${p.id}`), csv: (p) => p.id },
    { id: 'time', title: t('jobs.staging.time'), isNumber: true, cell: (p) => formatDuration(p.seconds), csv: (p) => p.seconds },
    { id: 'share', title: t('jobs.staging.share'), cell: (p) => <LoadBar share={p.share}>{formatShare(p.share)}</LoadBar>, csv: (p) => p.share },
    { id: 'moved', title: t('jobs.staging.moved'), cell: (p) => p.moved ?? nothing, csv: (p) => p.moved },
  ]
  return <DataTable isPlain name="attempt-phases" label={t('jobs.staging')} columns={columns} rows={phases} rowKey={(p) => p.id} />
}
