import { useText } from '../../i18n/language'
import type { Candidate, Decision } from '../../queries/placement_preview'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, formatEnergy, formatMoney, nothing } from '../../ui/format'
import { ServerText } from '../../ui/server_text'
import { StatePill } from '../../ui/state_pill'
import { filterText } from './filter_text'
import { Place } from './place'
import { placeName } from './place_name'
import { expectedWait, knownInterval, knownSeconds, predictedDuration, predictedInterval } from './predicted'

interface Ranked {
  candidate: Candidate
  isWinner: boolean
}

/** Every place that was looked at, best first: what it would take there, and why it won, lost or cannot. */
export function CandidatesTable({ decision }: { decision: Decision }) {
  const t = useText()
  const rows = decision.candidates.map((candidate, i) => ({ candidate, isWinner: i === decision.winner }))
  const hasCost = rows.some(({ candidate }) => candidate.cost)
  // Where the power of no unit is known, nobody can compare by it.
  const hasEnergy = rows.some(({ candidate }) => candidate.energy_j !== undefined)
  const columns: Column<Ranked>[] = [
    { id: 'place', title: t('jobs.place'), cell: ({ candidate: c }) => <Place at={c} />, csv: ({ candidate: c }) => placeName(c) },
    { id: 'verdict', title: t('jobs.state'), cell: ({ candidate: c, isWinner }) => (isWinner
      ? <StatePill tone="good">{t('jobs.why.winner')}</StatePill>
      : c.feasible ? <StatePill tone="idle">{t('jobs.why.feasible')}</StatePill>
        : <StatePill tone="bad">{t('jobs.why.removed', { filter: filterText(t, c.removed_by ?? c.criterion ?? nothing) })}</StatePill>),
      csv: ({ candidate: c, isWinner }) => (isWinner ? 'chosen' : c.feasible ? 'feasible' : c.removed_by ?? c.criterion) },
    { id: 'wait', title: t('jobs.wait'), isNumber: true, cell: ({ candidate: c }) => formatDuration(expectedWait(c)), csv: ({ candidate: c }) => expectedWait(c) },
    { id: 'run', title: t('jobs.run'), isNumber: true, cell: ({ candidate: c }) => predictedDuration(c, c.prediction?.run_s), csv: ({ candidate: c }) => knownSeconds(c, c.prediction?.run_s) },
    { id: 'interval', title: t('jobs.interval'), isNumber: true, cell: ({ candidate: c }) => predictedInterval(c), csv: ({ candidate: c }) => knownInterval(c) },
    { id: 'completion', title: t('jobs.completion'), isNumber: true, cell: ({ candidate: c }) => predictedDuration(c, c.completion_s), csv: ({ candidate: c }) => knownSeconds(c, c.completion_s) },
    ...(hasCost ? [{ id: 'cost', title: t('jobs.cost'), isNumber: true, cell: ({ candidate: c }: Ranked) => formatMoney(c.cost), csv: ({ candidate: c }: Ranked) => c.cost?.amount }] : []),
    ...(hasEnergy ? [{ id: 'energy_j', title: t('jobs.energy'), isNumber: true, cell: ({ candidate: c }: Ranked) => formatEnergy(c.energy_j), csv: ({ candidate: c }: Ranked) => c.energy_j }] : []),
    { id: 'reason', title: t('jobs.detail'), isText: true, cell: ({ candidate: c }) => (c.reason ? <ServerText>{c.reason}</ServerText> : nothing), csv: ({ candidate: c }) => c.reason },
  ]
  return (
    <DataTable isPlain name="candidates" label={t('jobs.why.candidates')} columns={columns} rows={rows}
      rowKey={({ candidate: c }) => c.unit_type_id} />
  )
}
