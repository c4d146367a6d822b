import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { type Translate, useText } from '../../i18n/language'
import type { ScalingCurve } from '../../queries/scaling_curves'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { axisNameStyle, seriesStyle } from '../../ui/series_style'
import { measuredOf, modelOf, nameOfCurve, type Shown } from './curve_figures'

type Series = Extract<NonNullable<ChartOption['series']>, readonly unknown[]>[number]

/** The band, the model, the measured points and the knee of one curve, in one colour, dash and marker. */
function seriesOf(curve: ScalingCurve, index: number, shown: Shown, scheme: 'light' | 'dark', t: Translate): Series[] {
  const style = seriesStyle(index, scheme)
  const name = nameOfCurve(curve)
  const model = modelOf(curve, shown)
  const knee = model.find((figure) => figure.units === curve.knee)
  const bare = { type: 'line' as const, stack: `band ${index}`, symbol: 'none', silent: true, lineStyle: { opacity: 0 }, tooltip: { show: false } }
  return [
    { ...bare, name: `${index} low`, data: model.map((f) => [f.units, f.low]) },
    { ...bare, name: `${index} high`, data: model.map((f) => [f.units, f.high - f.low]), areaStyle: { color: style.color, opacity: 0.14 } },
    { type: 'line', name, data: model.map((f) => [f.units, f.value]), symbol: 'none', color: style.color, lineStyle: { color: style.color, width: 2, type: style.dash } },
    { type: 'scatter', name: `${name} (${t('scaling.kind.measured')})`, data: measuredOf(curve, shown).map((f) => [f.units, f.value]), symbol: style.symbol, symbolSize: 9, color: style.color },
    ...(knee ? [{ type: 'scatter' as const, name: `${name} (${t('scaling.knee')})`, data: [[knee.units, knee.value]], symbol: 'diamond', symbolSize: 18,
      itemStyle: { color: 'transparent', borderColor: style.color, borderWidth: 2 } }] : []),
  ]
}

export function CurveChart({ curves, shown }: { curves: readonly ScalingCurve[]; shown: Shown }) {
  const t = useText()
  const scheme = useComputedColorScheme('light')
  const axis = t(`scaling.axis.${shown}`)
  const option = useMemo<ChartOption>(() => ({
    grid: { left: 56, right: 20, top: 40, bottom: 44 },
    legend: { top: 0, type: 'scroll', itemWidth: 34, data: curves.map(nameOfCurve) },
    tooltip: { trigger: 'item', valueFormatter: (value) => (typeof value === 'number' ? value.toPrecision(4) : String(value)) },
    xAxis: { type: 'value', name: t('scaling.axis.units'), nameLocation: 'middle', nameGap: 26, nameTextStyle: axisNameStyle(scheme), minInterval: 1, min: 1, max: 'dataMax' },
    yAxis: { type: 'value', name: axis, nameLocation: 'middle', nameGap: 40, nameTextStyle: axisNameStyle(scheme), min: 0 },
    series: curves.flatMap((curve, i) => seriesOf(curve, i, shown, scheme, t)),
  }), [curves, shown, scheme, axis, t])
  return <Chart option={option} height={340} label={t('scaling.chart', { names: curves.map(nameOfCurve).join(', '), axis })} />
}
