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
