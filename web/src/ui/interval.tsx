import styles from './interval.module.css'

/** A value with its interval on a scale that several rows share. The figures stand beside it as text. */
export function IntervalBar({ low, value, high, from, to }: { low: number; value: number; high: number; from: number; to: number }) {
  const at = (x: number) => (to > from ? ((x - from) / (to - from)) * 192 + 4 : 100)
  return (
    <svg className={styles.plot} viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">
      <line className={styles.axis} x1="0" x2="200" y1="8" y2="8" />
      <line className={styles.bar} x1={at(low)} x2={Math.max(at(high), at(low) + 1)} y1="8" y2="8" />
      <rect className={styles.point} x={at(value) - 1.5} y="2" width="3" height="12" />
    </svg>
  )
}
