import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { ProbeRun } from '../../../queries/probe_runs'
import type { Column } from '../../../ui/data_table'
import { formatDuration, nothing } from '../../../ui/format'
import { ServerText } from '../../../ui/server_text'
import { Time } from '../../../ui/zone'
import { RunStatePill } from '../run_state'

/** Runs of a list; the result of one is on its own page. */
export function useRunColumns(): Column<ProbeRun>[] {
  const t = useText()
  return [
    { id: 'id', title: t('runs.run'), cell: (r) => <Link href={pathTo('/probe-runs/:id', { id: r.id })}><code>{r.id}</code></Link>, csv: (r) => r.id },
    { id: 'state', title: t('measure.state'), cell: (r) => <RunStatePill state={r.state} />, csv: (r) => r.state },
    { id: 'place', title: t('runs.place'), cell: (r) => (
      <Link href={pathTo('/centers/:center', { center: r.center })}>{r.center} / {r.unit_type}</Link>), csv: (r) => `${r.center}/${r.unit_type}` },
    { id: 'unit_count', title: t('measure.units'), isNumber: true, cell: (r) => r.unit_count || nothing, csv: (r) => r.unit_count },
    { id: 'cause', title: t('runs.cause'), cell: (r) => t(`runs.cause.${r.cause}`), csv: (r) => r.cause },
    { id: 'verification', title: t('runs.verification'), cell: (r) => t(`runs.verification.${r.verification}`), csv: (r) => r.verification },
    { id: 'created_at', title: t('measure.created'), cell: (r) => <Time at={r.created_at} />, csv: (r) => r.created_at },
    { id: 'queue_wait_s', title: t('runs.waited'), isNumber: true, cell: (r) => (r.queue_wait_s === null ? nothing : formatDuration(r.queue_wait_s)), csv: (r) => r.queue_wait_s, isHidden: true },
    { id: 'ended_at', title: t('runs.ended'), cell: (r) => <Time at={r.ended_at} />, csv: (r) => r.ended_at, isHidden: true },
    { id: 'error', title: t('measure.error'), isText: true, cell: (r) => (r.error ? <ServerText>{r.error}</ServerText> : nothing), csv: (r) => r.error },
    { id: 'selection', title: t('runs.selection'), cell: (r) => t(`runs.selection.${r.selection}`), csv: (r) => r.selection, isHidden: true },
    { id: 'task', title: t('runs.task'), cell: (r) => <Link href={pathTo('/probe-tasks/:id', { id: r.probe_task_id })}><code>{r.probe_task_id}</code></Link>,
      csv: (r) => r.probe_task_id, isHidden: true },
    { id: 'order_id', title: t('runs.measure.order'), cell: (r) => (r.order_id
      ? <Link href={pathTo('/probe-orders/:id', { id: r.order_id })}><code>{r.order_id}</code></Link> : nothing), csv: (r) => r.order_id, isHidden: true },
    { id: 'created_by', title: t('measure.by'), cell: (r) => <code>{r.created_by}</code>, csv: (r) => r.created_by, isHidden: true },
  ]
}
