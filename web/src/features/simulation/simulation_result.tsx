import { useMemo } from 'react'
import { useLanguage, useText } from '../../i18n/language'
import type { LeftOutJobs, Simulation } from '../../queries/simulations'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, formatNumber, formatShare, formatTime, nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { useZone } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { type CenterRow, centerRows, changeOf, type FigureKind, type FigureRow, figureRows } from './figures'
import { SimulationCharts } from './simulation_charts'

/** +12 %, as far as that says something. */
function difference(before: number | null, after: number | null): string {
  const change = changeOf(before, after)
  if (change === null) return nothing
  const text = formatShare(Math.abs(change))
  return text === '0 %' ? text : `${change > 0 ? '+' : '−'}${text}`
}

function useFigure() {
  const { locale } = useLanguage()
  return (kind: FigureKind, value: number | null | undefined) => {
    switch (kind) {
      case 'seconds': return formatDuration(value)
      case 'share': return formatShare(value)
      case 'count': return formatNumber(value, locale, 0)
      case 'number': return formatNumber(value, locale, 2)
    }
  }
}

function FigureTable({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const figure = useFigure()
  const name = (row: FigureRow) => (row.name === 'cost' ? t('simulation.cost', { currency: simulation.currency ?? '' }) : t(`simulation.figure.${row.name}`))
  return (
    <DataTable name="simulation" label={t('simulation.result')} rows={figureRows(simulation)} rowKey={(row) => row.name} columns={[
      { id: 'figure', title: t('simulation.figure'), cell: name, csv: (row) => row.name },
      { id: 'before', title: t('simulation.before'), isNumber: true, cell: (row) => figure(row.kind, row.before), csv: (row) => row.before },
      { id: 'after', title: t('simulation.after'), isNumber: true, cell: (row) => figure(row.kind, row.after), csv: (row) => row.after },
      { id: 'change', title: t('simulation.difference'), isNumber: true, cell: (row) => difference(row.before, row.after), csv: (row) => changeOf(row.before, row.after) },
    ]} />
  )
}

function CenterTable({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const figure = useFigure()
  const both = (id: string, title: string, kind: FigureKind, value: (one: NonNullable<CenterRow['before']>) => number | null): Column<CenterRow>[] =>
    (['before', 'after'] as const).map((which) => {
      const of = (row: CenterRow) => (row[which] ? value(row[which]) : null)
      return { id: `${id}_${which}`, title: `${title}: ${t(`simulation.${which}`)}`, isNumber: true, cell: (row) => figure(kind, of(row)), csv: of }
    })
  return (
    <DataTable name="simulation-centers" label={t('simulation.by_center')} rows={centerRows(simulation)} rowKey={(row) => row.center} columns={[
      { id: 'center', title: t('simulation.center'), cell: (row) => row.center, csv: (row) => row.center },
      ...both('unit_count', t('simulation.units'), 'count', (one) => one.unit_count),
      ...both('jobs', t('simulation.figure.jobs'), 'count', (one) => one.figures.jobs),
      ...both('utilization', t('simulation.use'), 'share', (one) => one.figures.utilization),
      ...both('mean_wait_s', t('simulation.waits'), 'seconds', (one) => one.figures.mean_wait_s),
      ...(simulation.currency ? both('cost', t('simulation.cost', { currency: simulation.currency }), 'number', (one) => one.figures.cost) : []),
    ]} />
  )
}

function LeftOut({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const lines = (which: 'period' | 'before' | 'after', items: readonly LeftOutJobs[]) => items.map((one) => (
    <li key={`${which} ${one.reason}`}>{t(`simulation.left_out.${which}`, { n: one.job_count })} <ServerText>{one.reason}</ServerText></li>))
  const all = [...lines('period', simulation.left_out), ...lines('before', simulation.before.left_out), ...lines('after', simulation.after.left_out),
    ...simulation.notes.map((note) => <li key={note}><ServerText>{note}</ServerText></li>)]
  return all.length > 0 ? <Section title={t('simulation.left_out')}><ul>{all}</ul></Section> : null
}

/** What came of a simulation: charts, the differences, and what was left out. */
export function SimulationResult({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const { zone } = useZone()
  const of = useMemo(() => ({
    n: simulation.job_count, waiting: simulation.waiting_count, since: formatTime(simulation.since, zone), until: formatTime(simulation.until, zone) }), [simulation, zone])
  return (
    <>
      <Section title={t('simulation.result')}>
        <p className={measuring.note}>{t('simulation.jobs_of', of)}</p>
        {simulation.is_cut ? <p role="status" className={measuring.warn}>{t('simulation.cut')}</p> : null}
        {simulation.is_partial ? <p role="status" className={measuring.warn}>{t('simulation.partial')}</p> : null}
        <FigureTable simulation={simulation} />
      </Section>
      <Section title={t('simulation.by_center')}>
        <SimulationCharts simulation={simulation} />
        <CenterTable simulation={simulation} />
      </Section>
      <LeftOut simulation={simulation} />
    </>
  )
}
