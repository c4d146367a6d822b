/** How several lines of one chart are told apart: by colour, and without colour by dash and marker. */
export interface SeriesStyle {
  color: string
  dash: 'solid' | number[]
  symbol: 'circle' | 'rect' | 'triangle' | 'diamond' | 'emptyCircle' | 'emptyRect'
}

const colors = {
  light: ['#1d5bb8', '#b36b00', '#14713d', '#8a3fa8', '#b3261e', '#4b545e'],
  dark: ['#86b2ee', '#e5b15a', '#63c68b', '#d69bea', '#ff8f86', '#c3c9d0'],
}
const dashes: SeriesStyle['dash'][] = ['solid', [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 4]]
const symbols: SeriesStyle['symbol'][] = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect']

/** Colour of what names an axis. */
export function axisNameStyle(scheme: 'light' | 'dark') {
  return { color: scheme === 'dark' ? '#9ba5b0' : '#5c6671' }
}

/** More than these are not told apart any more. */
export const mostSeries = colors.light.length

export function seriesStyle(index: number, scheme: 'light' | 'dark'): SeriesStyle {
  const at = index % mostSeries
  return { color: colors[scheme][at] ?? '#4b545e', dash: dashes[at] ?? 'solid', symbol: symbols[at] ?? 'circle' }
}

/** What is drawn over a bar, so that bars of several series are told apart without colour, too. */
export interface BarPattern {
  symbol: 'rect' | 'circle'
  symbolSize: number
  dashArrayX: number | (number | number[])[]
  dashArrayY: number | number[]
  rotation: number
  color: string
}

const stripes = { symbol: 'rect' as const, symbolSize: 1, dashArrayX: [1, 0], dashArrayY: [2, 4] }
const patterns: (Omit<BarPattern, 'color'> | null)[] = [
  null, { ...stripes, rotation: Math.PI / 4 }, { symbol: 'circle', symbolSize: 0.7, dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [6, 0], rotation: 0 },
  { ...stripes, rotation: 0 }, { ...stripes, rotation: -Math.PI / 4 }, { ...stripes, rotation: Math.PI / 2 }]

/** The style of the bars of a series: its colour and its pattern; the first one has none. */
export function barStyle(index: number, scheme: 'light' | 'dark'): { color: string; itemStyle: { decal?: BarPattern } } {
  const pattern = patterns[index % mostSeries]
  // Bars are dark on a light page and light on a dark one: what is drawn over them is the other way round.
  const color = scheme === 'dark' ? 'rgba(0,0,0,0.5)' : 'rgba(255,255,255,0.6)'
  return { color: seriesStyle(index, scheme).color, itemStyle: pattern ? { decal: { ...pattern, color } } : {} }
}
