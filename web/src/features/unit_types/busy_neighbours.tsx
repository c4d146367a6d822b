import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { type LoadCurve, useLoadCurves } from '../../queries/load_curves'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { formatFigure } from '../../ui/rates'
import { axisNameStyle, mostSeries, seriesStyle } from '../../ui/series_style'
import { ServerText } from '../../ui/server_text'
import { Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { drawnLoads, factorBeside, lineOf } from './load_factors'

/** How much slower operators are on a unit of this type while jobs hold other cores of its host. */
export function BusyNeighbours({ unitType }: { unitType: string }) {
  const t = useText()
  const query = useLoadCurves(unitType)
  return (
    <Section title={t('units.neighbours')}>
      <Ready query={query}>
        {query.data?.length ? <Curves curves={query.data} /> : <p className="dim">{t('units.neighbours.none')}</p>}
      </Ready>
    </Section>
  )
}

function Curves({ curves }: { curves: readonly LoadCurve[] }) {
  const t = useText()
  const drawn = useMemo(() => drawnLoads(curves, mostSeries), [curves])
  const columns: Column<LoadCurve>[] = [
    { id: 'operator', title: t('measure.operator'), csv: (c) => c.operator,
      cell: (c) => <Link href={pathTo('/operators/:id', { id: c.operator })}><code>{c.operator}</code></Link> },
    { id: 'largest_busy_cores', title: t('units.neighbours.cores'), isNumber: true, cell: (c) => formatFigure(c.largest_busy_cores), csv: (c) => c.largest_busy_cores },
    { id: 'factor', title: t('units.neighbours.factor'), isNumber: true, cell: (c) => factorText(c, 1), csv: (c) => factorBeside(c, 1)?.factor },
    { id: 'half', title: t('units.neighbours.half'), isNumber: true, cell: (c) => factorText(c, 0.5), csv: (c) => factorBeside(c, 0.5)?.factor },
    { id: 'bubbles', title: t('units.neighbours.bubbles'), isNumber: true, cell: (c) => bubblesText(c), csv: (c) => c.bubbles?.at(-1)?.factor },
    { id: 'pressure', title: t('units.neighbours.pressure'), isNumber: true, cell: (c) => pressureText(c), csv: (c) => c.pressure?.per_core },
    { id: 'result_count', title: t('units.neighbours.results'), isNumber: true, cell: (c) => c.result_count ?? nothing, csv: (c) => c.result_count },
    { id: 'measured_at', title: t('units.neighbours.newest'), cell: (c) => <Time at={c.measured_at} />, csv: (c) => c.measured_at },
    { id: 'problem', title: t('units.neighbours.problem'), isText: true, csv: (c) => c.problem, cell: (c) => (c.problem ? <ServerText>{c.problem}</ServerText> : nothing) },
  ]
  const hasProblems = curves.some((curve) => curve.problem)
  return (
    <>
      {drawn.length > 0 ? <LoadChart curves={drawn} /> : null}
      <p className={measuring.note}>{t('units.neighbours.key')} {curves.length > mostSeries ? t('units.neighbours.most', { n: mostSeries }) : ''}</p>
      <DataTable isPlain name="load-curves" label={t('units.neighbours')} rows={curves} rowKey={(curve) => curve.operator}
        columns={columns.filter((column) => column.id !== 'problem' || hasProblems)} />
    </>
  )
}

/** 1.06 × (1.02 – 1.11) */
function factorText(curve: LoadCurve, share: number): string {
  const found = factorBeside(curve, share)
  return found ? `${formatFigure(found.factor)} × (${formatFigure(found.low)} – ${formatFigure(found.high)})` : nothing
}

/** How sensitive it is to pressure on memory, beside the most bubbles that were tried: 1.06 × (1.02 – 1.11) */
function bubblesText(curve: LoadCurve): string {
  const most = curve.bubbles?.at(-1)
  return most ? `${formatFigure(most.factor)} × (${formatFigure(most.low)} – ${formatFigure(most.high)})` : nothing
}

/** As how many bubbles each of its cores counts: 0.6 (0.5 – 0.7) */
function pressureText({ pressure }: LoadCurve): string {
  return pressure ? `${formatFigure(pressure.per_core)} (${formatFigure(pressure.low)} – ${formatFigure(pressure.high)})` : nothing
}

function LoadChart({ curves }: { curves: readonly LoadCurve[] }) {
  const t = useText()
  const scheme = useComputedColorScheme('light')
  const option = useMemo<ChartOption>(() => ({
    grid: { left: 56, right: 20, top: 40, bottom: 44 },
    legend: { top: 0, type: 'scroll', itemWidth: 34 },
    tooltip: { trigger: 'item', valueFormatter: (value) => (typeof value === 'number' ? formatFigure(value) : String(value)) },
    xAxis: { type: 'value', name: t('units.neighbours.x'), nameLocation: 'middle', nameGap: 26, nameTextStyle: axisNameStyle(scheme), min: 0, max: 'dataMax' },
    yAxis: { type: 'value', name: t('units.neighbours.axis'), nameLocation: 'middle', nameGap: 40, nameTextStyle: axisNameStyle(scheme), min: 1 },
    series: curves.map((curve, i) => {
      const style = seriesStyle(i, scheme)
      return {
        type: 'line' as const, name: curve.operator, data: lineOf(curve), color: style.color, symbol: style.symbol, symbolSize: 8, showSymbol: true,
        lineStyle: { color: style.color, width: 2, type: style.dash },
      }
    }),
  }), [curves, scheme, t])
  return <Chart option={option} height={300} label={t('units.neighbours.chart', { names: curves.map((curve) => curve.operator).join(', ') })} />
}
