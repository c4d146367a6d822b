import { useText } from '../../i18n/language'
import type { Candidate, Decision } from '../../queries/placement_preview'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, formatMoney, formatShare } from '../../ui/format'
import { Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { changeText, rungText } from './code_text'
import { filterText } from './filter_text'

type OperatorTime = NonNullable<Candidate['prediction']>['operators'][number]
type Count = NonNullable<Candidate['counts']>[number]
type Removal = { filter: string; removed: number; center: string; reason: string }

/** What a decision rests on, and what would have made it another. */
export function DecisionEvidence({ decision }: { decision: Decision }) {
  const t = useText()
  const winner = decision.winner === null ? undefined : decision.candidates[decision.winner]
  const operators = winner?.prediction?.operators ?? []
  const counts = winner?.counts ?? []
  const removals: Removal[] = (decision.filter_trace?.steps ?? []).flatMap((step) =>
    step.centers.map((at) => ({ filter: step.filter, removed: at.removed, center: at.center, reason: at.reason })))
  return (
    <>
      {winner?.rungs?.length || winner?.run_basis ? (
        <Section title={t('jobs.why.basis')}>
          <ul>
            {winner.rungs?.map((rung) => <li key={rung.rung}><ServerText label={`${formatShare(rung.weight, 0)} · ${rungText(t, rung.rung)}`}>{rung.text}</ServerText></li>)}
            {winner.run_basis ? <li><ServerText>{winner.run_basis}</ServerText></li> : null}
          </ul>
        </Section>
      ) : null}
      {operators.length > 0 ? <Section title={t('jobs.why.operators')}><OperatorTimes operators={operators} /></Section> : null}
      {counts.length > 1 ? <Section title={t('jobs.why.counts')}><Counts counts={counts} /></Section> : null}
      {decision.counterfactuals ? (
        <Section title={t('jobs.why.counterfactuals')}>
          {decision.counterfactuals.length === 0 ? <p className="dim">{t('jobs.why.counterfactuals.none')}</p>
            : <ul>{decision.counterfactuals.map((c, i) => <li key={i}><ServerText label={changeText(t, c.kind)}>{c.text}</ServerText></li>)}</ul>}
        </Section>
      ) : null}
      {decision.filter_trace ? (
        <Section title={t('jobs.why.filterTrace')}>
          <p>{t('jobs.why.filterTrace.sum', { left: decision.filter_trace.left, all: decision.filter_trace.candidates })}</p>
          {removals.length > 0 ? <Removals removals={removals} /> : null}
        </Section>
      ) : null}
      {decision.assumptions.length > 0 ? (
        <Section title={t('jobs.why.assumptions')}><ul>{decision.assumptions.map((text, i) => <li key={i}><ServerText>{text}</ServerText></li>)}</ul></Section>
      ) : null}
    </>
  )
}

function OperatorTimes({ operators }: { operators: readonly OperatorTime[] }) {
  const t = useText()
  const columns: Column<OperatorTime>[] = [
    { id: 'id', title: t('jobs.operators.id'), cell: (o) => o.id, csv: (o) => o.id },
    { id: 'size', title: t('jobs.operators.size'), cell: (o) => <code>{o.parameters_key}</code>, csv: (o) => o.parameters_key },
    { id: 'count', title: t('jobs.operators.count'), isNumber: true, cell: (o) => o.count, csv: (o) => o.count },
    { id: 'per', title: t('jobs.operators.per'), isNumber: true, cell: (o) => formatDuration(o.execution_s), csv: (o) => o.execution_s },
    { id: 'total', title: t('jobs.operators.total'), isNumber: true, cell: (o) => formatDuration(o.total_s), csv: (o) => o.total_s },
    { id: 'interval', title: t('jobs.interval'), isNumber: true, cell: (o) => `${formatDuration(o.low_s)} – ${formatDuration(o.high_s)}`,
      csv: (o) => `${o.low_s} ${o.high_s}` },
    { id: 'basis', title: t('jobs.operators.basis'), cell: (o) => t(`jobs.operators.basis.${o.basis}`), csv: (o) => o.basis },
  ]
  return <DataTable isPlain name="operator-times" label={t('jobs.why.operators')} columns={columns} rows={operators} rowKey={(o) => `${o.id} ${o.parameters_key}`} />
}

function Counts({ counts }: { counts: readonly Count[] }) {
  const t = useText()
  const columns: Column<Count>[] = [
    { id: 'units', title: t('jobs.units'), isNumber: true, cell: (c) => c.unit_count, csv: (c) => c.unit_count },
    { id: 'wait', title: t('jobs.wait'), isNumber: true, cell: (c) => formatDuration(c.wait_s), csv: (c) => c.wait_s },
    { id: 'run', title: t('jobs.run'), isNumber: true, cell: (c) => formatDuration(c.run_s), csv: (c) => c.run_s },
    { id: 'completion', title: t('jobs.completion'), isNumber: true, cell: (c) => formatDuration(c.completion_s), csv: (c) => c.completion_s },
    { id: 'cost', title: t('jobs.cost'), isNumber: true, cell: (c) => formatMoney(c.cost), csv: (c) => (c.cost ? formatMoney(c.cost) : '') },
  ]
  return <DataTable isPlain name="counts" label={t('jobs.why.counts')} columns={columns} rows={counts} rowKey={(c) => String(c.unit_count)} />
}

function Removals({ removals }: { removals: readonly Removal[] }) {
  const t = useText()
  const columns: Column<Removal>[] = [
    { id: 'filter', title: t('jobs.why.filterTrace.filter'), cell: (r) => filterText(t, r.filter), csv: (r) => r.filter },
    { id: 'center', title: t('jobs.center'), cell: (r) => r.center, csv: (r) => r.center },
    { id: 'removed', title: t('jobs.why.filterTrace.removed'), isNumber: true, cell: (r) => r.removed, csv: (r) => r.removed },
    { id: 'reason', title: t('jobs.detail'), isText: true, cell: (r) => <ServerText>{r.reason}</ServerText>, csv: (r) => r.reason },
  ]
  return <DataTable isPlain name="filter-trace" label={t('jobs.why.filterTrace')} columns={columns} rows={removals} rowKey={(r) => `${r.filter} ${r.center}`} />
}
