import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../../i18n/language'
import type { ScalingCurve } from '../../queries/scaling_curves'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { axisNameStyle } from '../../ui/series_style'
import { namesOf, type Shown } from './curve_figures'
import { seriesOf } from './curve_series'

/** The curves that were chosen, over each other. */
export function CurveChart({ curves, shown }: { curves: readonly ScalingCurve[]; shown: Shown }) {
  const t = useText()
  const scheme = useComputedColorScheme('light')
  const axis = t(`scaling.axis.${shown}`)
  const names = useMemo(() => namesOf(curves), [curves])
  const option = useMemo<ChartOption>(() => ({
    grid: { left: 56, right: 20, top: 40, bottom: 44 },
    legend: { top: 0, type: 'scroll', itemWidth: 34, data: names },
    tooltip: { trigger: 'item' },
    xAxis: { type: 'value', name: t('scaling.axis.units'), nameLocation: 'middle', nameGap: 26, nameTextStyle: axisNameStyle(scheme), minInterval: 1, min: 1, max: 'dataMax' },
    yAxis: { type: 'value', name: axis, nameLocation: 'middle', nameGap: 40, nameTextStyle: axisNameStyle(scheme), min: 0 },
    series: curves.flatMap((curve, i) => seriesOf(curve, names[i] ?? '', i, shown, scheme, t)),
  }), [curves, names, shown, scheme, axis, t])
  return <Chart option={option} height={340} label={t('scaling.chart', { names: names.join(', '), axis })} />
}
