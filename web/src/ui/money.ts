// Exact amounts: at most six digits after the point, computed in millionths as whole numbers, never as floating point.
const shape = /^(-?)(\d+)(?:\.(\d{1,6}))?$/

/** An amount in millionths; null where it is none. */
export function toMicros(amount: string): bigint | null {
  const match = shape.exec(amount)
  if (!match) return null
  const micros = BigInt(match[2] ?? '0') * 1_000_000n + BigInt((match[3] ?? '').padEnd(6, '0'))
  return match[1] ? -micros : micros
}

/** Millionths as text; no digits after the point but those that say something, and two at least where there are any. */
export function fromMicros(micros: bigint): string {
  const size = micros < 0n ? -micros : micros
  const whole = (size / 1_000_000n).toString()
  const rest = (size % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return `${micros < 0n ? '-' : ''}${whole}${rest ? `.${rest.padEnd(2, '0')}` : ''}`
}

/** a − b; null where one is no amount. */
export function subtract(a: string, b: string): string | null {
  const [x, y] = [toMicros(a), toMicros(b)]
  return x === null || y === null ? null : fromMicros(x - y)
}

/** How much of b is a, for bars only; 0 where there is nothing to compare with. */
export function shareOf(a: string, b: string): number {
  const [x, y] = [toMicros(a), toMicros(b)]
  return x === null || y === null || y <= 0n ? 0 : Number((x * 10_000n) / y) / 10_000
}

/** Whether an amount is no more than nothing. */
export function isZero(amount: string): boolean {
  return toMicros(amount) === 0n
}
