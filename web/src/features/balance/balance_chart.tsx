import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../../i18n/language'
import type { BalanceStep } from '../../queries/balance'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { nothing } from '../../ui/format'
import { axisNameStyle, seriesStyle } from '../../ui/series_style'
import { useZone } from '../../ui/zone'
import { pointsOf, signed } from './steps'

/** Error and output from -1 to 1 over time, with the band in which nothing is done; occupancies thinner behind them. */
export function BalanceChart({ unit, steps }: { unit: string; steps: readonly BalanceStep[] }) {
  const t = useText()
  const { zone } = useZone()
  const scheme = useComputedColorScheme('light')
  const newest = steps[steps.length - 1]
  const band = newest?.band ?? null
  const option = useMemo<ChartOption>(() => {
    const line = (figure: 'error' | 'output' | 'transfer' | 'load', index: number, isThin: boolean) => {
      const style = seriesStyle(index, scheme)
      return {
        type: 'line' as const, name: t(`balance.${figure}`), data: pointsOf(steps, figure), connectNulls: false, color: style.color,
        symbol: style.symbol, symbolSize: isThin ? 0 : 5, showSymbol: !isThin && steps.length <= 60,
        lineStyle: { color: style.color, width: isThin ? 1 : 2, type: style.dash, opacity: isThin ? 0.7 : 1 },
      }
    }
    const nameTextStyle = axisNameStyle(scheme)
    const bandColor = nameTextStyle.color
    return {
      useUTC: zone === 'utc',
      grid: { left: 58, right: 16, top: 44, bottom: 46 },
      legend: { top: 0, type: 'scroll', itemWidth: 30 },
      tooltip: { trigger: 'axis', valueFormatter: (value) => (typeof value === 'number' ? signed(value) ?? nothing : nothing) },
      xAxis: { type: 'time', name: t('balance.chart.time', { zone: t(`shell.zone.${zone}`) }), nameLocation: 'middle', nameGap: 28, nameTextStyle, splitNumber: 3, axisLabel: { hideOverlap: true } },
      yAxis: { type: 'value', name: t('balance.chart.shares'), nameLocation: 'middle', nameGap: 40, nameTextStyle, min: -1, max: 1, interval: 0.5 },
      series: [
        line('transfer', 2, true), line('load', 3, true), line('output', 1, false),
        { ...line('error', 0, false), ...(band === null ? {} : { markLine: {
          silent: true, symbol: 'none', label: { formatter: ({ value }) => (Number(value) > 0 ? `± ${band}` : ''), position: 'insideEndTop' as const, color: bandColor },
          lineStyle: { color: bandColor, type: [2, 3] }, data: [{ yAxis: band }, { yAxis: -band }] } }) },
      ],
    }
  }, [steps, band, scheme, zone, t])
  return (
    <Chart option={option} height={316} label={t('balance.chart.label', {
      unit, n: steps.length, error: signed(newest?.error) ?? nothing, output: signed(newest?.output) ?? nothing })} />
  )
}
