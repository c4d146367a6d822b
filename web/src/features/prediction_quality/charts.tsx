import { useMemo } from 'react'
import { useLanguage, useText } from '../../i18n/language'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { formatNumber } from '../../ui/format'
import { useZone } from '../../ui/zone'
import { drift, logRange, type Point, runningMedian } from './residuals'

const medianOf = 20
const grid = { left: 62, right: 16, top: 34, bottom: 46 }
const xName = { nameLocation: 'middle' as const, nameGap: 28 }
const yName = { nameLocation: 'middle' as const, nameGap: 46 }

/** Predicted against actual run times. What came into its interval and what did not differ in form as well as colour. */
export function Scatter({ points }: { points: readonly Point[] }) {
  const t = useText()
  const option = useMemo((): ChartOption => {
    const range = logRange(points.flatMap((p) => [p.predicted, p.actual]))
    const data = (isWithin: boolean) => points.filter((p) => p.isWithin === isWithin).map((p) => [p.predicted, p.actual])
    return {
      grid, legend: { top: 0 },
      tooltip: { formatter: (item) => {
        const value = (Array.isArray(item) ? item[0] : item)?.value
        return Array.isArray(value) ? `${t('quality.predicted')} ${Number(value[0]).toPrecision(3)} s\n${t('quality.actual')} ${Number(value[1]).toPrecision(3)} s` : ''
      } },
      xAxis: { type: 'log', name: t('quality.scatter.predicted'), ...xName, ...range },
      yAxis: { type: 'log', name: t('quality.scatter.actual'), ...yName, ...range },
      series: [
        { type: 'scatter', name: t('quality.scatter.within'), symbol: 'circle', symbolSize: 7, data: data(true), itemStyle: { opacity: 0.75 } },
        { type: 'scatter', name: t('quality.scatter.outside'), symbol: 'triangle', symbolSize: 9, data: data(false) },
        { type: 'line', name: t('quality.scatter.equal'), symbol: 'none', silent: true, lineStyle: { type: 'dashed', width: 1 },
          data: [[range.min, range.min], [range.max, range.max]] },
      ],
    }
  }, [points, t])
  return <Chart option={option} height={340} label={t('quality.scatter.label', { n: points.length, within: points.filter((p) => p.isWithin).length })} />
}

/** How far off predictions were as time went on. */
export function Residuals({ points }: { points: readonly Point[] }) {
  const { t, locale } = useLanguage()
  const { zone } = useZone()
  const line = useMemo(() => runningMedian(points, medianOf), [points])
  const option = useMemo((): ChartOption => ({
    useUTC: zone === 'utc',
    grid, legend: { top: 0 }, tooltip: {},
    xAxis: { type: 'time', name: t('quality.residuals.time', { zone: t(`shell.zone.${zone}`) }), ...xName },
    yAxis: { type: 'log', name: t('quality.residuals.axis'), ...yName, ...logRange([1, ...points.map((p) => p.ratio)]) },
    series: [
      { type: 'scatter', name: t('quality.residuals.each'), symbolSize: 5, data: points.map((p) => [p.ended, p.ratio]), itemStyle: { opacity: 0.6 },
        markLine: { silent: true, symbol: 'none', label: { show: false }, lineStyle: { type: 'dashed', width: 1 }, data: [{ yAxis: 1 }] } },
      { type: 'line', name: t('quality.residuals.median', { n: medianOf }), symbol: 'none', lineStyle: { width: 2 }, data: line },
    ],
  }), [points, line, t, zone])
  const change = drift(points, medianOf)
  const figure = (value: number | undefined) => formatNumber(value, locale, 2)
  return (
    <>
      <Chart option={option} height={340} label={t('quality.residuals.label', { n: medianOf, ratio: figure(line.at(-1)?.[1]) })} />
      <p className="dim">{change ? t('quality.drift', { n: medianOf, now: figure(change.now), before: figure(change.before) })
        : t('quality.drift.few', { n: 2 * medianOf })}</p>
    </>
  )
}
