import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../../i18n/language'
import type { Simulation, SimulationFigures } from '../../queries/simulations'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { formatDuration, formatShare } from '../../ui/format'
import { axisNameStyle, barStyle, seriesStyle } from '../../ui/series_style'
import { axisUnit, type CenterRow, centerRows, drawnCenters, mostDrawn, waitClasses } from './figures'
import styles from './simulation.module.css'

const grid = { left: 66, right: 16, top: 36, bottom: 44 }

interface Both {
  name: string
  before: number | null
  after: number | null
}

/** Two bars for each name; told apart by colour, by pattern and by place. */
function usePairs(pairs: readonly Both[], format: (value: number) => string): ChartOption {
  const t = useText()
  const scheme = useComputedColorScheme('light')
  return useMemo(() => {
    const series = (['before', 'after'] as const).map((which, i) => ({
      type: 'bar' as const, name: t(`simulation.${which}`), data: pairs.map((pair) => pair[which] ?? '-'), ...barStyle(i, scheme), barMaxWidth: 28 }))
    return {
      grid, legend: { top: 0 },
      tooltip: { trigger: 'axis', valueFormatter: (value) => (typeof value === 'number' ? format(value) : '–') },
      xAxis: { type: 'category', data: pairs.map((pair) => pair.name), axisLabel: { hideOverlap: true } },
      yAxis: { type: 'value', axisLabel: { formatter: format } },
      series,
    }
  }, [pairs, format, scheme, t])
}

function useCenterPairs(rows: readonly CenterRow[], figure: keyof SimulationFigures) {
  return useMemo(() => rows.map((row) => ({
    name: row.center, before: row.before?.figures[figure] ?? null, after: row.after?.figures[figure] ?? null })), [rows, figure])
}

function share(value: number) {
  return formatShare(value, 0)
}

function count(value: number) {
  return String(value)
}

function ByCenter({ rows }: { rows: readonly CenterRow[] }) {
  const t = useText()
  const use = usePairs(useCenterPairs(rows, 'utilization'), share)
  const waits = usePairs(useCenterPairs(rows, 'mean_wait_s'), formatDuration)
  return (
    <>
      <div><h3>{t('simulation.use')}</h3><Chart option={use} label={t('simulation.use.label')} /></div>
      <div><h3>{t('simulation.waits')}</h3><Chart option={waits} label={t('simulation.waits.label')} /></div>
    </>
  )
}

function WaitClasses({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const classes = useMemo(() => waitClasses(simulation), [simulation])
  const pairs = useMemo(() => classes.map((one) => ({
    name: one.to === null ? t('simulation.class.above', { from: formatDuration(one.from) }) : t('simulation.class.below', { to: formatDuration(one.to) }),
    before: one.before, after: one.after })), [classes, t])
  const option = usePairs(pairs, count)
  const minute = classes.filter((one) => one.to !== null && one.to <= 60)
  const within = (which: 'before' | 'after') => minute.reduce((sum, one) => sum + one[which], 0)
  return (
    <div>
      <h3>{t('simulation.classes')}</h3>
      <Chart option={option} label={t('simulation.classes.label', { before: within('before'), after: within('after'), bound: formatDuration(60) })} />
    </div>
  )
}

function Queue({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const scheme = useComputedColorScheme('light')
  const unit = axisUnit(Math.max(...(['before', 'after'] as const).map((which) => simulation[which].moments.at(-1)?.at_s ?? 0)))
  const option = useMemo<ChartOption>(() => ({
    grid, legend: { top: 0 }, tooltip: { trigger: 'axis' },
    xAxis: { type: 'value', name: t('simulation.queue.time', { unit: unit.unit }), nameLocation: 'middle', nameGap: 26, nameTextStyle: axisNameStyle(scheme) },
    yAxis: { type: 'value', minInterval: 1, name: t('simulation.queue.jobs'), nameLocation: 'middle', nameGap: 44, nameTextStyle: axisNameStyle(scheme) },
    series: (['before', 'after'] as const).map((which, i) => {
      const style = seriesStyle(i, scheme)
      return {
        type: 'line' as const, step: 'end' as const, name: t(`simulation.${which}`), symbol: 'none', color: style.color, lineStyle: { color: style.color, width: 1.8, type: style.dash },
        data: simulation[which].moments.map((moment) => [Number((moment.at_s / unit.seconds).toFixed(3)), moment.waiting_jobs]) }
    }),
  }), [simulation, scheme, t, unit])
  const longest = (which: 'before' | 'after') => simulation[which].moments.reduce((most, moment) => Math.max(most, moment.waiting_jobs), 0)
  return (
    <div>
      <h3>{t('simulation.queue')}</h3>
      <Chart option={option} label={t('simulation.queue.label', { before: longest('before'), after: longest('after') })} />
    </div>
  )
}

/** Use and waits by center, waits by length, and the queue over time: before and after. */
export function SimulationCharts({ simulation }: { simulation: Simulation }) {
  const t = useText()
  const rows = useMemo(() => centerRows(simulation), [simulation])
  const drawn = useMemo(() => drawnCenters(rows), [rows])
  return (
    <>
      <div className={styles.charts}>
        <ByCenter rows={drawn} />
        <WaitClasses simulation={simulation} />
        <Queue simulation={simulation} />
      </div>
      {rows.length > drawn.length ? <p className="dim">{t('simulation.drawn', { n: mostDrawn })}</p> : null}
    </>
  )
}
