import { useText } from '../../../i18n/language'
import type { OperatorResult, ProbeRun } from '../../../queries/probe_runs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, formatShare, nothing } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { formatByteRate, formatFigure, formatFlops, formatSize } from '../../../ui/rates'
import { ServerText } from '../../../ui/server_text'
import measuring from '../../measuring/measuring.module.css'

/** Where the operator's data lay, or why its rate is none of memory. */
function memoryOf(result: OperatorResult): string | undefined {
  return result.cache_verdict ?? result.memory_level
}

function useColumns(): Column<OperatorResult>[] {
  const t = useText()
  return [
    { id: 'operator', title: t('measure.operator'), cell: (o) => `${o.label ? `${o.label}: ` : ''}${o.id}@${o.version}`, csv: (o) => `${o.id}@${o.version}` },
    { id: 'size', title: t('measure.size'), cell: (o) => <code>{formatSize(o.parameters)}</code>, csv: (o) => formatSize(o.parameters) },
    { id: 'count', title: t('measure.count'), isNumber: true, cell: (o) => o.count, csv: (o) => o.count },
    { id: 'median_s', title: t('measure.median'), isNumber: true, cell: (o) => formatDuration(o.median_s), csv: (o) => o.median_s },
    { id: 'ci', title: t('measure.interval'), isNumber: true, cell: (o) => `${formatDuration(o.ci_low_s)} – ${formatDuration(o.ci_high_s)}`,
      csv: (o) => `${o.ci_low_s} ${o.ci_high_s}` },
    { id: 'spread', title: t('measure.spread'), isNumber: true, cell: (o) => formatShare(o.spread), csv: (o) => o.spread },
    { id: 'samples', title: t('measure.samples'), isNumber: true, cell: (o) => o.samples_s.length, csv: (o) => o.samples_s.length },
    { id: 'rate_flops', title: t('runs.result.rate'), isNumber: true, cell: (o) => (o.rate_flops > 0 ? formatFlops(o.rate_flops) : nothing), csv: (o) => o.rate_flops },
    { id: 'rate_bytes', title: t('runs.result.bytes'), isNumber: true, cell: (o) => (o.rate_bytes > 0 ? formatByteRate(o.rate_bytes) : nothing), csv: (o) => o.rate_bytes },
    { id: 'error', title: t('measure.error'), isNumber: true, cell: (o) => formatFigure(o.error), csv: (o) => o.error },
    { id: 'tolerance', title: t('measure.tolerance'), isNumber: true, cell: (o) => formatFigure(o.tolerance), csv: (o) => o.tolerance },
    { id: 'precision', title: t('measure.precision'), cell: (o) => o.precision, csv: (o) => o.precision },
    { id: 'memory', title: t('runs.result.memory'), cell: (o) => (memoryOf(o) ? <ServerText>{memoryOf(o) ?? ''}</ServerText> : nothing), csv: (o) => memoryOf(o), isHidden: true },
    { id: 'library', title: t('runs.result.library'), cell: (o) => o.library, csv: (o) => o.library, isHidden: true },
    { id: 'target', title: t('runs.result.target'), cell: (o) => (o.is_target_reached === undefined ? nothing : t(o.is_target_reached ? 'ui.yes' : 'ui.no')),
      csv: (o) => o.is_target_reached, isHidden: true },
    { id: 'one_thread', title: t('runs.result.one_thread'), isNumber: true, cell: (o) => formatDuration(o.one_thread?.median_s), csv: (o) => o.one_thread?.median_s, isHidden: true },
  ]
}

/** What the runner said of each operator, and of the whole run. */
export function RunResult({ result, runId }: { result: NonNullable<ProbeRun['result']>; runId: string }) {
  const t = useText()
  const columns = useColumns()
  return (
    <Section title={t('runs.result')}>
      <Facts items={[
        [t('runs.result.wall'), formatDuration(result.wall_s)],
        [t('runs.result.start'), formatDuration(result.start_up_s)],
        [t('runs.result.task'), formatDuration(result.task_s)],
        [t('runs.result.runner'), result.runner_version],
        [t('runs.result.seed'), result.seed],
      ]} />
      <div style={{ marginTop: 12 }}>
        <DataTable name="run-result" label={`${t('runs.result')} ${runId}`} columns={columns} rows={result.operators} rowKey={(o) => `${o.label ?? ''}${o.id}${formatSize(o.parameters)}`} />
      </div>
      <details style={{ marginTop: 8 }}>
        <summary>{t('runs.result.host')}</summary>
        {/* A region that scrolls must be reachable by keyboard. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre className={measuring.pre} tabIndex={0}>{JSON.stringify(result.host, null, 2)}</pre>
      </details>
    </Section>
  )
}
