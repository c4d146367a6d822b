import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../../i18n/language'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { axisNameStyle, seriesStyle } from '../../ui/series_style'
import { useZone } from '../../ui/zone'
import { countsOperations, drawnOf, type HistoryFigure, type HistorySeries } from './history'

/** Score or rate over time, a line for each size and count of units. */
export function HistoryChart({ name, series, figure }: { name: string; series: readonly HistorySeries[]; figure: HistoryFigure }) {
  const t = useText()
  const { zone } = useZone()
  const scheme = useComputedColorScheme('light')
  const points = series.flatMap((one) => drawnOf(one, figure))
  const unit = series.some((one) => countsOperations(one.points)) ? 'flops' : 'bytes'
  const axis = t(`scores.history.axis.${figure === 'score' ? 'score' : unit}`)
  const option = useMemo<ChartOption>(() => {
    const nameTextStyle = axisNameStyle(scheme)
    return {
      useUTC: zone === 'utc',
      grid: { left: 72, right: 20, top: 40, bottom: 46 },
      legend: { top: 0, type: 'scroll', itemWidth: 34 },
      tooltip: { trigger: 'item', valueFormatter: (value) => (typeof value === 'number' ? value.toPrecision(4) : String(value)) },
      xAxis: { type: 'time', name: t('scores.history.time', { zone: t(`shell.zone.${zone}`) }), nameLocation: 'middle', nameGap: 28, nameTextStyle, splitNumber: 4, axisLabel: { hideOverlap: true } },
      yAxis: { type: 'value', name: axis, nameLocation: 'middle', nameGap: 54, nameTextStyle, min: 0,
        axisLabel: { formatter: (value: number) => (value >= 1e6 ? value.toExponential(1) : String(value)) } },
      series: series.map((one, i) => {
        const style = seriesStyle(i, scheme)
        return {
          type: 'line' as const, name: t('scores.history.series.name', { size: one.size, n: one.units }), data: drawnOf(one, figure), color: style.color,
          symbol: style.symbol, symbolSize: 8, showSymbol: true, lineStyle: { color: style.color, width: 2, type: style.dash },
        }
      }),
    }
  }, [series, figure, axis, scheme, zone, t])
  return <Chart option={option} height={340} label={t('scores.history.chart', { name, axis, n: points.length })} />
}
