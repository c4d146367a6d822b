import { Button, NativeSelect } from '@mantine/core'
import { memo, useMemo, useState } from 'react'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type AnyScore, type GroupedScore, scoreSubjects, useScores } from '../../queries/scores'
import { CsvButton } from '../../ui/csv_button'
import { PartMark } from '../../ui/cut_list'
import { DataTable } from '../../ui/data_table'
import { Page } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { pathOfPolicy } from '../metric_policies/policy_path'
import { PolicySelect } from '../metric_policies/policy_select'
import { useGroupedScoreColumns, useOperatorScoreColumns } from './score_columns'
import { ScoreHeat } from './score_heat'
import { countsOf, isOperatorScore, mapOf, type ScoreMap } from './score_map'
import { ScoreParts } from './score_parts'

const names = ['by', 'policy', 'center', 'name', 'units', 'view', 'shade'] as const
const noScores: readonly AnyScore[] = []

export function ScoresPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(names)
  const by = scoreSubjects.find((one) => one === raw.by) ?? 'operator'
  const query = useScores({ by, policy: raw.policy, center: raw.center, name: raw.name })
  const scores = query.data ?? noScores
  const counts = useMemo(() => countsOf(scores), [scores])
  const wanted = Number(raw.units)
  const unitCount = counts.includes(wanted) ? wanted : counts[0] ?? 1
  const isTable = raw.view === 'table'
  const map = useMemo(() => (isTable ? null : mapOf(scores, unitCount)), [isTable, scores, unitCount])
  const subjects = useMemo(() => [...new Set([...scores.map((score) => (isOperatorScore(score) ? score.operator : score.name ?? '')), raw.name])].filter(Boolean).sort(),
    [scores, raw.name])
  return (
    <Page title={t('scores.title')} actions={<Link href="/metric-policies">{t('scores.policy.read')}</Link>}>
      <div className={measuring.tools}>
        <NativeSelect label={t('scores.by')} value={by} onChange={(e) => change({ by: e.currentTarget.value, name: '', units: '' })}
          data={scoreSubjects.map((one) => ({ value: one, label: t(`scores.by.${one}`) }))} />
        {by === 'unit_type' ? null : (
          <NativeSelect label={t('scores.of')} value={raw.name} onChange={(e) => change({ name: e.currentTarget.value })} data={[{ value: '', label: t('ui.any') }, ...subjects]} />)}
        <CenterSelect value={raw.center} change={change} />
        <PolicySelect value={raw.policy} onChange={(policy) => change({ policy })} />
        {by === 'operator' && !isTable && counts.length > 1 ? (
          <NativeSelect label={t('scores.units')} value={String(unitCount)} onChange={(e) => change({ units: e.currentTarget.value })} data={counts.map(String)} />) : null}
        <NativeSelect label={t('scores.view')} value={raw.view} onChange={(e) => change({ view: e.currentTarget.value })}
          data={[{ value: '', label: t('scores.view.map') }, { value: 'table', label: t('scores.view.table') }]} />
        {map === null ? null : (
          <>
            <NativeSelect label={t('scores.shade')} value={raw.shade} onChange={(e) => change({ shade: e.currentTarget.value })}
              data={[{ value: '', label: t('scores.shade.column') }, { value: 'all', label: t('scores.shade.all') }]} />
            <span className={measuring.push}><MapCsv map={map} /></span>
          </>
        )}
      </div>
      {raw.policy && scores[0] ? <p role="status" className={measuring.warn}>{t('scores.policy.preview', { policy: scores[0].policy })} <Link className="in-text" href={pathOfPolicy(scores[0].policy)}>{t('scores.policy.open')}</Link></p> : null}
      <Ready query={query}>
        <PartMark list={query} />
        {query.isCut ? <p className={measuring.warn}>{t('scores.most', { n: scores.length })}</p> : null}
        {scores.length === 0 ? (
          <EmptyState title={t('scores.none')} action={
            <>
              <Button onClick={() => change({ name: '', center: '', policy: '' })}>{t('measure.clear')}</Button>
              {may('manage_metering') ? <Link href="/measure">{t('runs.measure')}</Link> : null}
            </>}>{t('scores.none.text')}</EmptyState>
        ) : map === null ? <ScoreTable scores={scores} policy={raw.policy} /> : <ScoreHeat policy={raw.policy} map={map} shades={raw.shade === 'all' ? 'all' : 'column'} />}
      </Ready>
    </Page>
  )
}

function ScoreTable({ scores, policy }: { scores: readonly AnyScore[]; policy: string }) {
  const t = useText()
  const [parts, showParts] = useState<GroupedScore | null>(null)
  const operatorColumns = useOperatorScoreColumns(policy)
  const groupedColumns = useGroupedScoreColumns(showParts)
  const single = scores.filter(isOperatorScore)
  const grouped = scores.filter((score): score is GroupedScore => !isOperatorScore(score))
  if (single.length > 0) {
    return <DataTable name="scores" label={t('scores.title')} columns={operatorColumns} rows={single} rowKey={(s) => `${s.probe_run_id} ${s.operator} ${s.unit_count} ${JSON.stringify(s.parameters)}`} />
  }
  return (
    <>
      <DataTable name="scores-grouped" label={t('scores.title')} columns={groupedColumns} rows={grouped} rowKey={(s) => `${s.unit_type_id} ${s.name ?? ''}`} />
      {parts ? <ScoreParts score={parts} onClose={() => showParts(null)} /> : null}
    </>
  )
}

function MapCsv({ map }: { map: ScoreMap }) {
  return <CsvButton name="scores" header={['center', 'unit_type', ...map.columns.map((c) => (c.size ? `${c.name} ${c.size}` : c.name || 'all'))]}
    rows={() => map.rows.map((row) => [row.center, row.unitType, ...map.columns.map((column) => map.at(row.key, column.key)?.score)])} />
}

/** There may be a thousand centers: it is not drawn again when another filter changes. */
const CenterSelect = memo(function CenterSelect({ value, change }: { value: string; change: (filters: { center: string }) => void }) {
  const t = useText()
  const options = useCenterOptions({ none: t('ui.any'), chosen: value })
  return <NativeSelect label={t('measure.center')} value={value} onChange={(e) => change({ center: e.currentTarget.value })} data={options} />
})
