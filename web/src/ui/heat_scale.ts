/** How many shades a heat map has, lightest first. The figures stand in the cells; shades only guide the eye. */
export const shadeCount = 7

/** The shade of a value between the least and the greatest one; on a log scale, equal ratios are equal distances. */
export function shadeOf(value: number | null, low: number, high: number, isLog = false): number | null {
  if (value === null || !Number.isFinite(value)) return null
  const place = (x: number) => (isLog ? Math.log(Math.max(x, Number.MIN_VALUE)) : x)
  if (!(high > low)) return Math.floor(shadeCount / 2)
  const share = (place(value) - place(low)) / (place(high) - place(low))
  return Math.min(shadeCount - 1, Math.max(0, Math.floor(share * shadeCount)))
}

/** The least and the greatest of the values that are there; null when there is none. */
export function rangeOf(values: readonly (number | null | undefined)[]): { low: number; high: number } | null {
  const present = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value))
  return present.length === 0 ? null : { low: Math.min(...present), high: Math.max(...present) }
}
