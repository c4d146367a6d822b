import { expect, it } from 'vitest'
import { barStyle, mostSeries, seriesStyle } from './series_style'

const all = Array.from({ length: mostSeries }, (_, i) => i)

it('as many lines as are drawn differ without colour, too, by dash and by marker', () => {
  const styles = all.map((i) => seriesStyle(i, 'light'))
  expect(new Set(styles.map((style) => JSON.stringify(style.dash))).size).toBe(mostSeries)
  expect(new Set(styles.map((style) => style.symbol)).size).toBe(mostSeries)
})

it('as many kinds of bars differ without colour, too, by pattern', () => {
  for (const scheme of ['light', 'dark'] as const)
    expect(new Set(all.map((i) => JSON.stringify(barStyle(i, scheme).itemStyle))).size).toBe(mostSeries)
})
