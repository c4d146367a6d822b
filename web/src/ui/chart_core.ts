import { BarChart, type BarSeriesOption, HeatmapChart, type HeatmapSeriesOption, LineChart, type LineSeriesOption, ScatterChart,
  type ScatterSeriesOption } from 'echarts/charts'
import { GridComponent, type GridComponentOption, LegendComponent, type LegendComponentOption, MarkLineComponent, TooltipComponent,
  type TooltipComponentOption, VisualMapComponent, type VisualMapComponentOption } from 'echarts/components'
import { type ComposeOption, init, use as register } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'

register([BarChart, LineChart, ScatterChart, HeatmapChart, GridComponent, LegendComponent, TooltipComponent, VisualMapComponent,
  MarkLineComponent, CanvasRenderer])

export type ChartOption = ComposeOption<BarSeriesOption | LineSeriesOption | ScatterSeriesOption | HeatmapSeriesOption |
  GridComponentOption | LegendComponentOption | TooltipComponentOption | VisualMapComponentOption>

// As other times in this console, the same in every language; left to itself ECharts names months in English.
const timeLabels = {
  year: '{yyyy}', month: '{yyyy}-{MM}', day: '{MM}-{dd}', hour: '{HH}:{mm}', minute: '{HH}:{mm}', second: '{HH}:{mm}:{ss}', millisecond: '{HH}:{mm}:{ss}',
}

/** Draws into an element until the returned function is called. */
export function draw(element: HTMLElement, option: ChartOption, scheme: 'light' | 'dark'): () => void {
  const colors = scheme === 'dark'
    ? { text: '#9ba5b0', line: '#2c333a', series: ['#86b2ee', '#e5b15a', '#63c68b', '#d69bea', '#ff8f86'] }
    : { text: '#5c6671', line: '#e3e6e9', series: ['#1d5bb8', '#b36b00', '#14713d', '#8a3fa8', '#b3261e'] }
  const axis = { nameTextStyle: { color: colors.text }, axisLine: { lineStyle: { color: colors.line } }, splitLine: { lineStyle: { color: colors.line } }, axisLabel: { color: colors.text } }
  const chart = init(element, {
    color: colors.series, textStyle: { fontFamily: 'inherit' }, legend: { textStyle: { color: colors.text } },
    categoryAxis: axis, valueAxis: axis, timeAxis: { ...axis, axisLabel: { ...axis.axisLabel, formatter: timeLabels } }, logAxis: axis,
  })
  // Tooltips as pictures: as HTML they would carry inline styles, which the content security policy forbids.
  const tooltip = Array.isArray(option.tooltip) ? option.tooltip : { ...option.tooltip, renderMode: 'richText' as const }
  chart.setOption({ animation: false, ...option, tooltip })
  const observer = new ResizeObserver(() => chart.resize())
  observer.observe(element)
  return () => {
    observer.disconnect()
    chart.dispose()
  }
}
